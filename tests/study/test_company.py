"""The other setting of a rival's pair: the leader if the level may have moved, else another rival."""

from types import SimpleNamespace

import numpy as np
import pytest

import equipoise as eq
from equipoise.study.outputs.company import _spare, accompanied, mirrored

LEADER, RIVAL = np.array([0.5]), np.array([1.0])
SOON, LATE = 11.0, 1000.0


def posterior():
    """Return what ten readings of half a line teach, under an offset that has moved after some tens of readings."""
    found = eq.belief.AnywherePosterior(eq.RBF(0.3), regularizer=0.01, offset=eq.Tracked().known())
    for t, x in enumerate(np.linspace(0, 0.5, 10), 1):
        found = found.condition(eq.Comparison([x], None, np.sin(3 * x), time=t))
    return found


def teaching(begun):
    """Return a function for the lessons of readings from a time on."""
    return lambda *points: tuple(eq.Comparison(x, None, 0.0, time=begun + i) for i, x in enumerate(points))


def outputs(**limiting):
    beliefs = {name: SimpleNamespace(posterior=belief) for name, belief in limiting.items()}
    return SimpleNamespace(limiting=list(limiting), beliefs=beliefs, placed=lambda point: True, origin=None)


@pytest.mark.parametrize(("begun", "spare"), [(SOON, True), (LATE, False)])
def test_the_leader_is_spare_while_the_level_of_the_readings_is_known(begun, spare):
    assert _spare(posterior(), outputs(), teaching(begun), LEADER, RIVAL) is spare


def test_one_output_with_a_limit_whose_level_is_not_known_is_enough_to_read_the_leader():
    alone = eq.belief.AnywherePosterior(eq.RBF(0.3), regularizer=0.01, offset=eq.Tracked().known())
    assert _spare(posterior(), outputs(loss=posterior()), teaching(SOON), LEADER, RIVAL)
    assert not _spare(posterior(), outputs(loss=alone), teaching(SOON), LEADER, RIVAL)


def test_a_point_compared_with_itself_leaves_nothing_to_spare():
    assert not _spare(posterior(), outputs(), teaching(SOON), LEADER, LEADER)


def within(belief, holds, rng, origin=None):
    """Return the first point against the one of the largest variance that may hold its limits."""
    variance = np.where(holds > 0, belief.variance, -1.0)
    return eq.Proposal.pair(belief.points[0], belief.points[int(variance.argmax())])


@pytest.mark.parametrize(("begun", "pair"), [(SOON, [0.7, 1.0]), (LATE, [0.5, 1.0])])
def test_two_rivals_are_measured_instead_of_a_leader_who_is_spare(begun, pair):
    belief, holds = posterior().at(np.array([[0.5], [0.7], [1.0]])), np.array([0.99, 0.9, 0.9])
    rng = np.random.default_rng(0)
    proposal = accompanied(within, posterior(), belief, outputs(), holds, rng, teaching(begun))
    assert proposal.points.ravel().tolist() == pair


def test_if_only_pairs_teach_the_leader_is_read():
    belief, holds = posterior().at(np.array([[0.5], [0.7], [1.0]])), np.array([0.99, 0.9, 0.9])
    proposal = accompanied(within, posterior(), belief, outputs(), holds, np.random.default_rng(0), None)
    assert proposal.points.ravel().tolist() == [0.5, 1.0]


@pytest.mark.parametrize(("offset", "partner"), [(eq.Tracked(), 0.6), (None, 0.5)])
def test_a_rival_is_compared_with_its_mirror_image_if_readings_teach(offset, partner):
    """A pair for a theorem has the leader."""
    d = 9
    space = eq.Box([(0, 1)] * d)
    kernel = {"kernel": eq.RBF(0.3)} if offset is None else {"offset": offset}
    leader, rival = np.full(d, 0.5), np.full(d, 0.4)
    opt = eq.Optimizer(space, rng=0, **kernel)
    posterior = eq.belief.AnywherePosterior(eq.RBF(0.3)).condition(eq.Comparison(leader, rival, 1.0))
    belief = posterior.at(np.array([rival, leader]))
    proposal = mirrored(opt._session.state, space, belief, eq.Proposal.pair(leader, rival))
    np.testing.assert_allclose(proposal.points, [np.full(d, partner), rival])


@pytest.mark.parametrize(
    ("leader", "rival", "partner"),
    [(0.5, 0.1, 0.5), (0.9, 0.75, 1.0), (0.2, 0.3, 0.2)],
    ids=["far from the leader", "cut at the end of the range", "not allowed"],
)
def test_a_mirror_image_is_near_and_within_the_space(leader, rival, partner):
    space = eq.Box([(0, 1)] * 9, constraint=lambda x: x.mean() > 0.15)
    leader, rival = np.full(9, leader), np.full(9, rival)
    posterior = eq.belief.AnywherePosterior(eq.RBF(0.3)).condition(eq.Comparison(leader, rival, 1.0))
    belief = posterior.at(np.array([rival, leader]))
    proposal = mirrored(eq.Optimizer(space, rng=0)._session.state, space, belief, eq.Proposal.pair(leader, rival))
    np.testing.assert_allclose(proposal.points, [np.full(9, partner), rival])


@pytest.mark.parametrize(("d", "mirrors"), [(8, False), (9, True)])
def test_a_study_of_many_knobs_asks_for_mirror_images_once_it_has_begun(d, mirrors, monkeypatch):
    pairs = []

    def recorded(*args):
        pairs.append(mirrored(*args).points)
        return eq.Proposal.pair(*pairs[-1])

    monkeypatch.setattr("equipoise.study.outputs.mirrored", recorded)
    opt = eq.Optimizer(eq.Box([(-1, 1)] * d), rng=0)
    for _ in range(40):
        trial = opt.ask()
        opt.tell(trial, -float((trial.x**2).sum()))
    assert bool(pairs) is mirrors
    asked = {opt.space.encode(record.x).tobytes() for record in opt.records()}
    assert all(opt.space.encode(opt.space.decode(x)).tobytes() in asked for pair in pairs for x in pair)
