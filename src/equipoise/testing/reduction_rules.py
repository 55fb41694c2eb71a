"""The rules for reductions.

    symbol   meaning                                                              shape
    m        number of points of the proposal
    s        signs of the readings, zero where a duel has fewer                   (N, r)
    u        first - second, as coefficients of the proposal's points             (N, m)
    v        what is read of each of them: the sum of its signs                   (N, m)
    b        offset of each reading of a duel, fixed before the coin              (r,)

The outcome is v'f + s'b, and least squares takes it for u'f. So its error must be uncorrelated with u over the coin:
E[(v - u) u'] = 0, or f itself misleads, and E[s u'] = 0, or an offset does. For a pair, whose u is fixed, that means:
the signs of each reading have mean zero, and so has their sum. Against one who has seen every earlier coin and reading
the same must hold given the past. The z-scores of correct reductions exceed `Z` with probability 6e-7 each, of some
hundred components: one check in ten thousand, and always the same one, as the seeds are fixed.
"""

import math
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np
from numpy.random import Generator

from equipoise._typing import FloatArray
from equipoise.belief import Belief
from equipoise.data import Comparison, Duel, Proposal, Reading, Side, teaches, will_teach
from equipoise.kernels import RBF
from equipoise.log.codec import Codec
from equipoise.log.events import Asked
from equipoise.offsets import Arbitrary, Tracked
from equipoise.optimizer import Optimizer
from equipoise.reductions.direct import Direct
from equipoise.reductions.reduction import Reduction
from equipoise.spaces.finite import Finite
from equipoise.testing.rehearsal import box, finite, must_resume, rehearse
from equipoise.testing.rule import Rule, agree, has, obeys, require, z_scores
from equipoise.testing.shared_rules import is_described, pickles

Z = 5.0
"""Standard errors that no mean is off by: two-sided error 5.7e-7."""

DRAWS = 2_000
"""Coins thrown: one that falls on one side with probability 0.57 instead of a half is found out (z above 6)."""

SIZE = 3
"""Points of the proposal for a reduction that takes any number."""


def check_reduction(reduction: Reduction, *, without: Collection[str] = ()) -> None:
    """Hold a reduction against the rules for reductions; one whose readings are believed need not be bias-robust.

    Args:
        reduction: The reduction.
        without: Names of rules that are left out.

    Raises:
        AssertionError: It breaks a rule, which the message names.

    Example:
        >>> import equipoise as eq
        >>> eq.testing.check_reduction(eq.TwoPoint())
    """
    obeys(reduction, RULES, without)


def declares_itself(reduction: Reduction) -> None:
    """It says the size of the proposals it takes, what may be assumed of the offset, and its forecast, or None."""
    has(reduction, ("proposal_size", "offset", "baseline"))
    size, baseline = reduction.proposal_size, reduction.baseline
    require(size is None or (isinstance(size, int) and size > 0), f"`proposal_size` is {size!r}")
    require(hasattr(reduction.offset, "learns_readings"), f"`offset` is {reduction.offset!r}")
    require(baseline is None or hasattr(baseline, "predict"), f"`baseline` is {baseline!r}")


def measures_the_proposal(reduction: Reduction) -> None:
    """A duel measures points of its proposal, at least one, each with a finite sign."""
    proposal = _proposal(reduction)
    for duel in _duels(reduction, 50):
        require(duel.proposal is proposal or _same(duel.proposal, proposal), "the duel is of another proposal")
        require(len(duel.points) == len(duel.signs) > 0, f"{len(duel.points)} points, signs {duel.signs}")
        require(np.isfinite(duel.signs).all(), f"signs {duel.signs}")
        for point in duel.points:
            _index(proposal, point)


def refuses_other_sizes(reduction: Reduction) -> None:
    """A proposal of another size than it takes is refused with a ValueError."""
    size = reduction.proposal_size
    if size is not None:
        try:
            reduction(_even(size + 1), np.random.default_rng(0))
        except ValueError:
            return
        raise AssertionError(f"it takes {size + 1} points")


def depends_on_its_stream_alone(reduction: Reduction) -> None:
    """The same proposal and the same stream give the same duel, whatever it was asked before."""
    first, _, second = ([(d.points.tobytes(), d.signs) for d in _duels(reduction, n)] for n in (20, 1, 20))
    require(first == second, "the second time it measures something else")


def passes_the_forecast_on(reduction: Reduction) -> None:
    """What is subtracted from a reading is the forecast it was given, where it has one, and else nothing."""
    expected = 0.0 if reduction.baseline is None else 0.375
    for duel in _duels(reduction, 20, baseline=0.375):
        require(duel.baseline == expected, f"a baseline of {duel.baseline} instead of {expected}")


def estimates_the_difference(reduction: Reduction) -> None:
    """Without an offset, the outcome estimates f(first) - f(second) for any f, on the mean over its coin."""
    _, u, v = _moments_of(reduction)
    require(u.any(), "it compares a point with itself")
    _must_vanish((v - u)[:, :, None] * u[:, None, :], "f, times what is compared")


def cancels_the_offset(reduction: Reduction) -> None:
    """The signs of each reading sum to zero over its coin, so that no offset fixed before it moves the outcome."""
    if not reduction.offset.believed:
        s, u, _ = _moments_of(reduction)
        _must_vanish(s[:, :, None] * u[:, None, :], "the signs, times what is compared")


def withstands_an_adversary(reduction: Reduction) -> None:
    """Nobody who sees every reading and every coin before, and not this one, moves the outcome his way."""
    if reduction.offset.believed:
        return
    for strategy in (_as_last, _against_last, _push):
        errors = np.array(list(islice(_errors(reduction, strategy), DRAWS)))
        scores = z_scores(errors)
        name = strategy.__name__.strip("_").replace("_", " ")
        require(np.abs(scores).max() < Z, f"one who plays '{name}' moves it by {np.abs(scores).max():.1f} se")


def teaches_by_the_one_rule(reduction: Reduction) -> None:
    """The outcome is signs @ (readings - baseline); with the offset modeled each reading teaches by itself first."""
    rng = np.random.default_rng(3)
    for duel in _duels(reduction, 20):
        y, places = rng.normal(size=len(duel.signs)), rng.permutation(len(duel.signs)) + 1
        told = [Reading(float(value), error=0.5, place=int(place)) for value, place in zip(y, places, strict=True)]
        (outcome,) = teaches(duel, told, Arbitrary())
        _must_be_outcome(duel, outcome, y)
        lessons = teaches(duel, told, Tracked())
        singles = lessons[: len(y)]
        require([each.time for each in singles] == sorted(places), "readings teach out of order")
        require([each.outcome for each in singles] == y[np.argsort(places)].tolist(), "a reading teaches another value")
        for known in range(len(y) + 1):
            _must_begin(lessons, duel, [each if each.place <= known else None for each in told])


def is_written(reduction: Reduction) -> None:
    """A log gives its duels back as they were."""
    proposal = _proposal(reduction)
    codec = Codec(Finite(proposal.points))
    for duel in _duels(reduction, 20):
        event = codec.from_json(codec.to_json(Asked(0, 0, duel)))
        require(isinstance(event, Asked), f"it comes back as {event!r}")
        assert isinstance(event, Asked)
        found = event.duel
        same = found.points.tobytes() == duel.points.tobytes() and found.baseline == duel.baseline
        require(same and tuple(found.signs) == tuple(duel.signs), "other points, signs or baseline come back")
        agree(_direction(proposal, found), _direction(proposal, duel), "what is compared")


def works_in_a_study(reduction: Reduction) -> None:
    """An optimizer asks, is told and recommends with it, on a finite set and in a box."""
    policy = _Some(reduction.proposal_size or SIZE, reduction)
    rehearse(Optimizer(finite(), kernel=RBF(0.5), policy=policy, reduction=reduction, rng=0))
    rehearse(Optimizer(box(), policy=policy, reduction=reduction, rng=0), readings=9)


def is_resumed(reduction: Reduction) -> None:
    """A logged study with it resumes to the same belief and the same next proposal."""
    policy = _Some(reduction.proposal_size or SIZE, reduction)
    must_resume(finite(), kernel=RBF(0.5), policy=policy, reduction=reduction)


RULES: tuple[Rule, ...] = (
    declares_itself,
    measures_the_proposal,
    refuses_other_sizes,
    depends_on_its_stream_alone,
    passes_the_forecast_on,
    estimates_the_difference,
    cancels_the_offset,
    withstands_an_adversary,
    teaches_by_the_one_rule,
    is_written,
    works_in_a_study,
    is_resumed,
    is_described,
    pickles,
)
"""What a reduction must obey."""


@dataclass(frozen=True)
class _Some:
    """Proposes so many candidates at random: reductions may take other numbers than the library's policies make."""

    proposal_size: int
    reduction: Reduction = Direct()  # noqa: RUF009
    scores = ()

    def __call__(self, belief: Belief, rng: Generator) -> Proposal:
        """Draw the candidates, different ones if there are enough."""
        k, m = self.proposal_size, len(belief.points)
        return Proposal(belief.points[rng.choice(m, k, replace=m < k)], np.full(k, 1 / k))


def _even(size: int) -> Proposal:
    return Proposal(np.arange(float(size))[:, None], np.full(size, 1 / size))


def _proposal(reduction: Reduction) -> Proposal:
    """Return a proposal it takes: even weights where the size is fixed, uneven ones where it is not."""
    if reduction.proposal_size is not None:
        return _even(reduction.proposal_size)
    return Proposal(np.arange(float(SIZE))[:, None], np.array([0.2, 0.5, 0.3]))


def _duels(reduction: Reduction, n: int, baseline: float = 0.0) -> Iterator[Duel]:
    proposal, rng = _proposal(reduction), np.random.default_rng(0)
    return (reduction(proposal, rng, baseline) for _ in range(n))


def _index(proposal: Proposal, point: FloatArray) -> int:
    found = np.flatnonzero((proposal.points == point).all(axis=1))
    require(len(found), f"the point {np.asarray(point).tolist()} is none of the proposal's")
    return int(found[0])


def _side(proposal: Proposal, side: Side | None) -> FloatArray:
    """Return a side of a comparison as coefficients of the proposal's points."""
    result = np.zeros(len(proposal.points))
    if isinstance(side, Proposal):
        for point, weight in zip(side.points, side.weights, strict=True):
            result[_index(proposal, point)] += weight
    elif side is not None:
        result[_index(proposal, side)] = 1.0
    return result


def _direction(proposal: Proposal, what: Duel | Comparison) -> FloatArray:
    return _side(proposal, what.first) - _side(proposal, what.second)


def _moments_of(reduction: Reduction) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return s, u and v of many duels."""
    proposal, duels = _proposal(reduction), list(_duels(reduction, DRAWS))
    s = np.zeros((DRAWS, max(len(duel.signs) for duel in duels)))
    v = np.zeros((DRAWS, len(proposal.points)))
    for i, duel in enumerate(duels):
        s[i, : len(duel.signs)] = duel.signs
        for point, sign in zip(duel.points, duel.signs, strict=True):
            v[i, _index(proposal, point)] += sign
    return s, np.array([_direction(proposal, duel) for duel in duels]), v


def _must_vanish(samples: FloatArray, what: str) -> None:
    flat = samples.reshape(len(samples), -1)
    scores = np.abs(np.where(np.abs(flat).max(axis=0) < 1e-12, 0.0, z_scores(flat)))  # but for rounding
    worst = int(scores.argmax())
    require(scores[worst] < Z, f"{what}, has mean {flat[:, worst].mean():.3g}, {scores[worst]:.1f} se from zero")


Strategy = Callable[[FloatArray, FloatArray], FloatArray]
"""Takes the signs of the last duel and the errors so far; returns the offset of each coming reading."""


def _as_last(signs: FloatArray, total: FloatArray) -> FloatArray:
    return 2.0 * np.sign(signs)


def _against_last(signs: FloatArray, total: FloatArray) -> FloatArray:
    return -2.0 * np.sign(signs)


def _push(signs: FloatArray, total: FloatArray) -> FloatArray:
    direction = 2.0 * np.sign(total[0] + 1e-9) * np.cos(np.arange(len(signs)))
    return np.asarray(direction, dtype=np.float64)


def _errors(reduction: Reduction, strategy: Strategy) -> Iterator[FloatArray]:
    """Yield the error of each outcome times u, shape (m,), while an adversary chooses offsets and baseline."""
    rng, world, proposal = np.random.default_rng(0), np.random.default_rng(1), _proposal(reduction)
    f = world.normal(size=len(proposal.points))
    signs, total = np.ones(1), np.zeros(len(proposal.points))
    while True:
        b = strategy(signs, total)
        duel = reduction(proposal, rng, math.tanh(float(total[0])))
        offsets = np.resize(b, len(duel.signs))
        y = f[[_index(proposal, x) for x in duel.points]] + offsets + 0.3 * world.standard_normal(len(duel.signs))
        (told,) = teaches(duel, [Reading(float(value), place=i + 1) for i, value in enumerate(y)], Arbitrary())
        u = _direction(proposal, told)
        error = (told.outcome - float(u @ f)) * u
        signs, total = np.array(duel.signs), total + error
        yield error


def _must_be_outcome(duel: Duel, told: Comparison, y: FloatArray) -> None:
    signs = np.array(duel.signs)
    expected = float(signs @ (y - (duel.baseline if duel.needs_baseline else 0.0)))
    agree(told.outcome, expected, "the outcome", 1e-12)
    agree(told.variance, 0.25 * float(signs @ signs), "the variance of its own errors", 1e-12)


def _must_begin(lessons: Sequence[Comparison], duel: Duel, told: Sequence[Reading | None]) -> None:
    """Fail unless what some readings teach, and then what is still to come, are what all of them teach."""
    known = teaches(duel, told, Tracked())
    place = 1 + sum(each is not None for each in told)
    coming = will_teach(duel, told, Tracked(), place=place)
    seen = [(each.outcome, each.time, each.second is None) for each in known]
    all_of_it = [(each.outcome, each.time, each.second is None) for each in lessons]
    require(seen == all_of_it[: len(seen)], f"{len(seen)} lessons do not begin what all readings teach")
    require(len(seen) + len(coming) == len(lessons), f"{len(coming)} lessons foreseen after {len(seen)}")


def _same(a: Proposal, b: Proposal) -> bool:
    return a.points.tobytes() == b.points.tobytes() and a.weights.tobytes() == b.weights.tobytes()
