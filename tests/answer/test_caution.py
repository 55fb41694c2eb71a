"""The cautious model: the disturbances that it accepts, and the readings that it uses."""

import numpy as np
import pytest

import equipoise as eq
from equipoise.answer import cautious
from equipoise.belief import Form, LearnedBelief, LearnedModel, StudyBelief
from equipoise.belief.refitting import having
from equipoise.offsets import Circumstances


def learned(readings, campaign=""):
    posterior = LearnedBelief.prior(LearnedModel(Form(np.ones(1), np.arange(1), eq.Tracked())))
    for t, (x, y) in enumerate(readings, 1):
        told = Circumstances.of(None, campaign or None, None)
        posterior = posterior.condition(eq.Comparison([x], None, y, time=t, circumstances=told))
    return posterior


KNOWN = [(0.5, 1.0), (0.52, 1.1), (0.5, 1.05), (0.48, 0.95)]


@pytest.mark.parametrize(
    ("after", "believed"),
    [
        ([(0.7, -4.0)], False),  # it may be f that fell
        ([(0.7, -4.0), (0.71, -4.1)], False),
        ([(0.7, -4.0), (0.5, -4.1)], True),  # a place that was read before has fallen as well
        ([(0.7, 6.0)], True),  # a rise: to take it for f would make the place look good
    ],
)
def test_a_fall_is_one_of_f_until_a_known_place_has_fallen_too(after, believed):
    posterior = learned(KNOWN + after)
    posterior = having(posterior, posterior.hyperparameters, ((5.0, 25.0),), ())
    assert cautious(StudyBelief(posterior), 1.0).offset.jumps == (posterior.jumps if believed else ())


@pytest.mark.parametrize(("value", "believed"), [(-4.0, False), (6.0, True)])
def test_a_low_reading_is_not_taken_for_a_spoiled_one(value, believed):
    posterior = learned([*KNOWN, (0.7, value), (0.5, 1.0)])
    posterior = having(posterior, posterior.hyperparameters, (), ((5.0, 25.0),))
    assert cautious(StudyBelief(posterior), 1.0).offset.blips == (posterior.blips if believed else ())


def test_earlier_campaigns_are_left_out_of_it():
    old = learned([(x, 9 * x) for x in np.linspace(0, 1, 12).tolist()], "2025")
    assert old.present.exact.size == 0
    grid = np.linspace(0, 1, 5)[:, None]
    np.testing.assert_array_equal(cautious(StudyBelief(old), 1.0).at(grid).mean, np.zeros(5))
    both, alone = old, learned([])
    for t, (x, y) in enumerate([*KNOWN, (0.6, 1.3), (0.3, 0.4), (0.4, 0.7)], 1):
        both, alone = (each.condition(eq.Comparison([x], None, y, time=t)) for each in (both, alone))
    assert both.present.exact.size == 7
    assert alone.present is alone
    np.testing.assert_allclose(
        np.ptp(cautious(StudyBelief(both), 1.0).at(grid).mean),
        np.ptp(cautious(StudyBelief(alone), 1.0).at(grid).mean),
        rtol=0.5,
    )
    assert both.present is both.present
    assert "present" not in both.__getstate__()
