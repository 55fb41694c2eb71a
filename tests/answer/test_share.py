"""How often one setting is preferred: an interval that is exact, at every time of looking, with ties too."""

import math

import numpy as np
import pytest
from scipy.special import betaln
from scipy.stats import binom

from equipoise.answer import Share, share
from equipoise.answer.sequential import log_wealth


def scores(wins, losses, ties=0):
    return np.repeat([1.0, 0.0, 0.5], [wins, losses, ties])


@pytest.mark.parametrize(("wins", "losses"), [(1, 0), (7, 3), (24, 0), (0, 9), (300, 200)])
def test_without_ties_it_is_robbins_of_a_flat_prior(wins, losses):
    found = share(scores(wins, losses), 0.05)
    assert found.value == wins / (wins + losses)
    assert 0.0 <= found.low <= found.value <= found.high <= 1.0
    for limit in {found.low, found.high} - {0.0, 1.0}:
        exact = betaln(wins + 1, losses + 1) - wins * math.log(limit) - losses * math.log1p(-limit)
        assert exact == pytest.approx(math.log(20), abs=0.01)


def test_nothing_and_one_answer_say_hardly_anything():
    assert math.isnan(share(scores(0, 0)).value)
    assert (share(scores(0, 0)).low, share(scores(0, 0)).high) == (0.0, 1.0)
    assert share(scores(1, 0)).low == pytest.approx(0.025, abs=1e-3)
    assert -Share(0.75, 0.5, 1.0, 4) == Share(0.25, 0.0, 0.5, 4)


def test_ties_make_it_narrower():
    assert share(scores(0, 0, 24)).high < share(scores(12, 12)).high
    assert share(scores(0, 0, 24)).value == 0.5


@pytest.mark.parametrize("chances", [(0.5, 0.5, 0.0), (0.9, 0.1, 0.0), (0.5, 0.2, 0.3)])
def test_who_looks_after_every_answer_is_wrong_in_five_percent_at_most(chances):
    """The truth lies outside at some time in 5 % of runs at most: 300 runs, wrong by chance once in a thousand."""
    rng, truth = np.random.default_rng(1), chances[0] + 0.5 * chances[2]
    kinds = rng.choice(3, p=chances, size=(300, 40))
    missed = 0
    for run in kinds:
        counts = np.cumsum(run[:, None] == np.arange(3), axis=0)
        missed += any(log_wealth(truth, np.array([1.0, 0.0, 0.5]), count) >= math.log(20) for count in counts[3::4])
    assert missed <= binom.ppf(0.999, 300, 0.05)
