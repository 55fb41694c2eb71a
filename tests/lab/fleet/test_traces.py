"""Given the same coins, a fleet does what each of its learners would do alone."""

from dataclasses import dataclass, replace
from types import SimpleNamespace

import numpy as np
import pytest

import equipoise as eq
from equipoise.belief import fair_argmax
from equipoise.belief.covariance import TAIL
from equipoise.lab.environments import BIASES, Drift, Environment, Function, camelback, linear
from equipoise.lab.fleet import Blueprint, OwnCoins, Worlds, simulate
from equipoise.lab.fleet.covariances import Directions
from equipoise.lab.fleet.reducing import Duels
from equipoise.log import PROPOSE, RECOMMEND, Streams
from equipoise.policies import EUBO, MaxMinLCB, Random, SemiTSPosterior

LEARNERS = 4


def smooth(seed, per_axis):
    """A function on a grid, its own for each seed."""
    shift = np.random.default_rng(seed).uniform(-0.5, 0.5, 2)
    grid = camelback().on_grid(per_axis)
    return Function.finite("shifted", lambda x: grid.evaluate(x - shift), grid.points)


KERNELS = {
    "linear": (eq.Linear(), lambda seed: linear(rng=seed)),
    "few points": (eq.RBF(0.5), lambda seed: smooth(seed, 4)),
    "many points": (eq.RBF(0.5), lambda seed: smooth(seed, 9)),
}
PAIRS = [
    (eq.UCB(), None),
    (Random(), None),
    (eq.IDS(), eq.TwoPoint()),
    (eq.IDS(), eq.OnePoint()),
    (eq.IDS(floor=0.1), eq.TwoPoint()),
    (eq.Challenger(), eq.TwoPoint()),
    (eq.Challenger(boldness=0.0, scale=0.75), eq.OnePoint()),
    (eq.DoubleThompson(), eq.TwoPoint()),
    (eq.DoubleThompson(scale=1.5), eq.OnePoint()),
    (MaxMinLCB(), eq.TwoPoint()),
    (EUBO(), eq.TwoPoint()),
]
CONFIDENCES = {
    "linear": eq.PaperConfidence(),
    "few points": eq.FixedConfidence(1.0),
    "many points": eq.TightConfidence(0.3, 2.0),
}


def compared(optimizers, functions, bias, noise, readings):
    """Assert that the fleet's regrets, leaders and certificates are those of the optimizers, run one by one."""
    worlds = Worlds(functions, bias, noise, [100 + i for i in range(LEARNERS)])
    coins = OwnCoins([Streams(i) for i in range(LEARNERS)])
    courses = simulate(Blueprint.of(optimizers), worlds, readings, coins=coins)
    for i, (optimizer, course) in enumerate(zip(optimizers, courses, strict=True)):
        environment = Environment(functions[i], bias, noise, 100 + i)
        regrets = []
        for _ in range(readings):
            trial = optimizer.ask()
            optimizer.tell(trial, environment.measure(trial.x))
            regrets.append(environment.regret(trial.x))
        belief = optimizer.posterior.at(functions[i].points)
        leader = belief.leader(Streams(i).at(readings, RECOMMEND))
        assert course.regrets == pytest.approx(regrets, rel=0, abs=1e-9)
        assert course.recommendation.x == pytest.approx(functions[i].points[leader], rel=0, abs=0)
        assert course.recommendation.gap_bound == pytest.approx(belief.gap_bound(leader), rel=1e-9)
        assert course.recommended_regret == pytest.approx(environment.regret(functions[i].points[leader]), abs=1e-9)


@pytest.mark.parametrize("kind", KERNELS)
@pytest.mark.parametrize(("policy", "reduction"), PAIRS, ids=repr)
def test_a_fleet_repeats_the_runs_of_its_learners(policy, reduction, kind):
    kernel, make = KERNELS[kind]
    functions = [make(i) for i in range(LEARNERS)]
    optimizers = [
        eq.Optimizer(
            eq.Finite(f.points),
            kernel=kernel,
            policy=policy,
            reduction=reduction,
            confidence=CONFIDENCES[kind],
            regularizer=0.5,
            rng=Streams(i),
        )
        for i, f in enumerate(functions)
    ]
    compared(optimizers, functions, Drift(), 0.3, readings=61)


@dataclass(frozen=True)
class LeaderAndNext:
    """A policy of a user's own."""

    proposal_size = 2
    reduction = eq.TwoPoint()
    scores = ()

    def __call__(self, belief, rng):
        first, second = self.choose(belief, chance(rng))
        return eq.Proposal.pair(belief.points[first], belief.points[second])

    def choose(self, belief, chance):
        leader = chance.argmax(belief.mean)
        return leader, (leader + 1) % belief.mean.shape[-1]


def chance(rng):
    """The random numbers of one learner: what `LeaderAndNext` needs of them."""
    return SimpleNamespace(argmax=lambda scores: fair_argmax(scores, rng))


def test_a_policy_of_your_own_runs_in_a_fleet_if_it_can_choose():
    functions = [smooth(i, 4) for i in range(LEARNERS)]
    optimizers = [
        eq.Optimizer(eq.Finite(f.points), kernel=eq.RBF(0.5), policy=LeaderAndNext(), rng=Streams(i))
        for i, f in enumerate(functions)
    ]
    compared(optimizers, functions, Drift(), 0.3, readings=40)


@pytest.mark.parametrize("scale", [None, 2.716])
@pytest.mark.parametrize("kind", ["linear", "few points"])
def test_semits_too(kind, scale):
    kernel, make = KERNELS[kind]
    functions = [make(i) for i in range(LEARNERS)]
    optimizers = [
        eq.Optimizer(
            eq.Finite(f.points),
            policy=eq.SemiTS(scale=scale, draws=200),
            posterior=SemiTSPosterior(f.points, kernel, 1.0, eq.PaperConfidence()),
            rng=Streams(i),
        )
        for i, f in enumerate(functions)
    ]
    compared(optimizers, functions, Drift(), 1.0, readings=60)


@pytest.mark.parametrize("bias", BIASES)
def test_under_every_bias(bias):
    functions = [linear(rng=i) for i in range(LEARNERS)]
    settings = {"kernel": eq.Linear(), "policy": eq.IDS(), "confidence": eq.PaperConfidence()}
    optimizers = [eq.Optimizer(eq.Finite(f.points), rng=Streams(i), **settings) for i, f in enumerate(functions)]
    compared(optimizers, functions, BIASES[bias](), 1.0, readings=80)


@pytest.mark.parametrize("kind", ["linear", "few points"])
def test_bose_step_by_step(kind):
    """A coin's number is read along the support, whose order differs: so the fleet measures what the optimizer does."""
    kernel, make = KERNELS[kind]
    f = make(0)
    optimizer = eq.Optimizer(
        eq.Finite(f.points), kernel=kernel, policy=eq.BOSE(), confidence=eq.PaperConfidence(), rng=0
    )
    blueprint = Blueprint.of([optimizer])
    beliefs, environment, last = blueprint.prior(1), Environment(f, Drift(), 0.3, 1), None
    coins = OwnCoins([Streams(0)])
    index = {point.tobytes(): i for i, point in enumerate(f.points)}
    for number in range(80):
        wanted = optimizer.study.propose().proposal
        duels = blueprint.propose(beliefs, coins.at(number, PROPOSE), last)
        weights = np.zeros(len(f.points))
        weights[[index[point.tobytes()] for point in wanted.points]] = wanted.weights
        assert duels.directions.mixture[0] == pytest.approx(weights, abs=1e-6)
        trial = optimizer.ask()
        y = environment.measure(trial.x)
        optimizer.tell(trial, y)
        first = np.array([index[trial.x.tobytes()]])
        measured = Duels(first[:, None], np.ones((1, 1)), replace(duels.directions, first=first))
        last = duels.directions
        beliefs = blueprint.learn(beliefs, measured, np.array([[y]]))
    own = optimizer.posterior.at(f.points)
    assert beliefs.mean[0] == pytest.approx(own.mean, abs=1e-6)
    assert beliefs.variance[0] == pytest.approx(own.variance, abs=1e-6)


def test_directions_of_values():
    values = np.array([[1.0, 2.0, 4.0], [3.0, 5.0, 8.0]])
    first, second = np.array([0, 2]), np.array([1, 1])
    assert Directions(first).of(values).tolist() == [1.0, 8.0]
    assert Directions(first, second).of(values).tolist() == [-1.0, 3.0]
    half = np.array([[0.5, 0.0, 0.5], [0.0, 0.0, 1.0]])
    assert Directions(first, mixture=half).of(values).tolist() == [-1.5, 0.0]


def test_what_cannot_be_vectorized_is_refused():
    points = [[0.0], [1.0]]
    for policy in (eq.policies.MaxInfo(), Random(pairs=True)):
        with pytest.raises(ValueError, match="`policy` must have `choose` or be one of DoubleThompson"):
            Blueprint(points, eq.RBF(1.0), policy)
    with pytest.raises(ValueError, match="without a forecast"):
        Blueprint(points, eq.RBF(1.0), eq.IDS(), eq.OnePoint(eq.BestForecaster()))
    with pytest.raises(ValueError, match="`reduction` must fit `policy`"):
        Blueprint(points, eq.RBF(1.0), eq.UCB(), eq.TwoPoint())
    with pytest.raises(ValueError, match="`reduction` must fit `policy`"):
        Blueprint(points, eq.RBF(1.0), eq.IDS(), eq.Centered())
    with pytest.raises(ValueError, match=r"`points` must have shape \(n, d\)"):
        Blueprint([0.0, 1.0], eq.RBF(1.0))
    with pytest.raises(ValueError, match="`count` must be the number of lists of points, 2, got 3"):
        Blueprint([points, points], eq.RBF(1.0)).prior(3)


def test_a_program_is_taken_from_optimizers_that_have_not_begun():
    made = eq.Optimizer(eq.Finite([[0.0], [1.0]]), kernel=eq.RBF(0.5), rng=0)
    other = eq.Optimizer(eq.Finite([[0.0], [1.0]]), kernel=eq.RBF(0.7), rng=0)
    with pytest.raises(ValueError, match="one prior except for their points"):
        Blueprint.of([made, other])
    made.tell(made.ask(), 0.0)
    with pytest.raises(ValueError, match="before any reading"):
        Blueprint.of([made])
    with pytest.raises(ValueError, match="over finite sets with a kernel"):
        Blueprint.of([eq.Optimizer(eq.Box([(0, 1)]))])


def test_beliefs_whose_memory_is_used_again_learn_the_same():
    """As many outcomes as fold twice into the matrix that each learner then has for itself."""
    f, rng = smooth(0, 9), np.random.default_rng(0)
    fresh = used = Blueprint(f.points, eq.RBF(0.5), eq.IDS(), regularizer=0.5).prior(2)
    for _ in range(2 * TAIL + 3):
        first, second = rng.integers(len(f.points), size=(2, 2))
        outcome = rng.standard_normal(2)
        fresh = fresh.condition(Directions(first, second), outcome)
        used = used.condition(Directions(first, second), outcome, overwrite=True)
    assert used.mean == pytest.approx(fresh.mean, abs=1e-12)
    assert used.covariances.full() == pytest.approx(fresh.covariances.full(), abs=1e-12)
