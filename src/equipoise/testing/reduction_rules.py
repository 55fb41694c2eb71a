"""The rules for reductions; `coins.py` derives them."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np
from numpy.random import Generator

from equipoise._typing import FloatArray
from equipoise.belief import Belief
from equipoise.data import Comparison, Duel, Proposal, Reading, teaches, will_teach
from equipoise.kernels import RBF
from equipoise.log import Asked, Codec
from equipoise.offsets import Arbitrary, Tracked
from equipoise.optimizer import Optimizer
from equipoise.reductions import Direct, Reduction
from equipoise.spaces import Finite
from equipoise.testing.coins import (
    DRAWS,
    SIZE,
    STRATEGIES,
    Z,
    compared,
    errors,
    even,
    index,
    moments_of,
    proposal_for,
    thrown,
)
from equipoise.testing.rehearsal import box, finite, must_resume, rehearse
from equipoise.testing.rule import agree, has, obeys, require, rules_of, z_scores
from equipoise.testing.shared_rules import is_described, pickles


def check_reduction(reduction: Reduction, *, without: Collection[str] = ()) -> None:
    """Check a reduction against the rules for reductions; one whose readings are believed need not be bias-robust.

    Example:
        >>> import equipoise as eq
        >>> eq.testing.check_reduction(eq.TwoPoint())
    """
    obeys(reduction, RULES, without)


def declares_itself(reduction: Reduction) -> None:
    """It states the size of the proposals it accepts, the assumed law of the offset, and its forecast, or None."""
    has(reduction, ("proposal_size", "offset", "baseline"))
    size, baseline = reduction.proposal_size, reduction.baseline
    require(size is None or (isinstance(size, int) and size > 0), f"`proposal_size` is {size!r}")
    require(hasattr(reduction.offset, "learns_readings"), f"`offset` is {reduction.offset!r}")
    require(baseline is None or hasattr(baseline, "predict"), f"`baseline` is {baseline!r}")


def measures_the_proposal(reduction: Reduction) -> None:
    """A duel measures points of its proposal, at least one, each with a finite sign."""
    proposal = proposal_for(reduction)
    for duel in thrown(reduction, 50):
        require(duel.proposal is proposal or _same(duel.proposal, proposal), "the duel is of another proposal")
        require(len(duel.points) == len(duel.signs) > 0, f"{len(duel.points)} points, signs {duel.signs}")
        require(np.isfinite(duel.signs).all(), f"signs {duel.signs}")
        for point in duel.points:
            index(proposal, point)


def refuses_other_sizes(reduction: Reduction) -> None:
    """It refuses a proposal of the wrong size with a ValueError."""
    size = reduction.proposal_size
    if size is not None:
        try:
            reduction(even(size + 1), np.random.default_rng(0))
        except ValueError:
            return
        raise AssertionError(f"it takes {size + 1} points")


def depends_on_its_stream_alone(reduction: Reduction) -> None:
    """The same proposal and the same stream give the same duel, regardless of earlier calls."""
    first, _, second = ([(d.points.tobytes(), d.signs) for d in thrown(reduction, n)] for n in (20, 1, 20))
    require(first == second, "the second time it measures something else")


def passes_the_forecast_on(reduction: Reduction) -> None:
    """It subtracts its forecast from a reading, if it has one, and nothing else."""
    expected = 0.0 if reduction.baseline is None else 0.375
    for duel in thrown(reduction, 20, baseline=0.375):
        require(duel.baseline == expected, f"a baseline of {duel.baseline} instead of {expected}")


def estimates_the_difference(reduction: Reduction) -> None:
    """Without an offset, the outcome estimates f(first) - f(second) for any f, in the mean over its coin."""
    _, u, v = moments_of(reduction)
    require(u.any(), "it compares a point with itself")
    _must_vanish((v - u)[:, :, None] * u[:, None, :], "f, times what is compared")


def cancels_the_offset(reduction: Reduction) -> None:
    """The signs of each reading sum to zero over its coin, so that no offset fixed before it moves the outcome."""
    if not reduction.offset.believed:
        s, u, _ = moments_of(reduction)
        _must_vanish(s[:, :, None] * u[:, None, :], "the signs, times what is compared")


def withstands_an_adversary(reduction: Reduction) -> None:
    """No adversary who sees every earlier reading and coin, but not this one, moves the outcome."""
    if reduction.offset.believed:
        return
    for strategy in STRATEGIES:
        scores = z_scores(np.array(list(islice(errors(reduction, strategy), DRAWS))))
        name = strategy.__name__.replace("_", " ")
        require(np.abs(scores).max() < Z, f"one who plays '{name}' moves it by {np.abs(scores).max():.1f} se")


def teaches_by_the_one_rule(reduction: Reduction) -> None:
    """The outcome is signs @ (readings - baseline); with a modeled offset each reading first teaches by itself."""
    rng = np.random.default_rng(3)
    for duel in thrown(reduction, 20):
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
    """A log restores its duels exactly."""
    proposal = proposal_for(reduction)
    codec = Codec(Finite(proposal.points))
    for duel in thrown(reduction, 20):
        event = codec.from_json(codec.to_json(Asked(0, duel, 0)))
        require(isinstance(event, Asked), f"it comes back as {event!r}")
        assert isinstance(event, Asked)
        found = event.question
        assert isinstance(found, Duel)
        same = found.points.tobytes() == duel.points.tobytes() and found.baseline == duel.baseline
        require(same and tuple(found.signs) == tuple(duel.signs), "other points, signs or baseline come back")
        agree(compared(proposal, found), compared(proposal, duel), "what is compared")


def works_in_a_study(reduction: Reduction) -> None:
    """An optimizer can ask, tell and recommend with it, on a finite set and in a box."""
    policy = _Some(reduction.proposal_size or SIZE, reduction)
    rehearse(Optimizer(finite(), kernel=RBF(0.5), policy=policy, reduction=reduction, rng=0))
    rehearse(Optimizer(box(), policy=policy, reduction=reduction, rng=0), readings=9)


def is_resumed(reduction: Reduction) -> None:
    """A logged study with it resumes to the same belief and the same next proposal."""
    policy = _Some(reduction.proposal_size or SIZE, reduction)
    must_resume(finite(), kernel=RBF(0.5), policy=policy, reduction=reduction)


RULES = rules_of(__name__, is_described, pickles)
"""The rules for a reduction."""


@dataclass(frozen=True)
class _Some:
    """A policy that proposes any number of random candidates: reductions may accept other numbers than our policies."""

    proposal_size: int
    reduction: Reduction = Direct()  # noqa: RUF009
    scores = ()

    def __call__(self, belief: Belief, rng: Generator) -> Proposal:
        """Draw the candidates, all different if there are enough."""
        k, m = self.proposal_size, len(belief.points)
        return Proposal(belief.points[rng.choice(m, k, replace=m < k)], np.full(k, 1 / k))


def _must_vanish(samples: FloatArray, what: str) -> None:
    flat = samples.reshape(len(samples), -1)
    scores = np.abs(np.where(np.abs(flat).max(axis=0) < 1e-12, 0.0, z_scores(flat)))  # up to rounding
    worst = int(scores.argmax())
    require(scores[worst] < Z, f"{what}, has mean {flat[:, worst].mean():.3g}, {scores[worst]:.1f} se from zero")


def _must_be_outcome(duel: Duel, told: Comparison, y: FloatArray) -> None:
    signs = np.array(duel.signs)
    expected = float(signs @ (y - (duel.baseline if duel.needs_baseline else 0.0)))
    agree(told.outcome, expected, "the outcome", 1e-12)
    agree(told.variance, 0.25 * float(signs @ signs), "the variance of its own errors", 1e-12)


def _must_begin(lessons: Sequence[Comparison], duel: Duel, told: Sequence[Reading | None]) -> None:
    """Fail unless the first readings followed by the rest teach the same as all readings at once."""
    known = teaches(duel, told, Tracked())
    place = 1 + sum(each is not None for each in told)
    coming = will_teach(duel, told, Tracked(), place=place)
    seen = [(each.outcome, each.time, each.second is None) for each in known]
    all_of_it = [(each.outcome, each.time, each.second is None) for each in lessons]
    require(seen == all_of_it[: len(seen)], f"{len(seen)} lessons do not begin what all readings teach")
    require(len(seen) + len(coming) == len(lessons), f"{len(coming)} lessons foreseen after {len(seen)}")


def _same(a: Proposal, b: Proposal) -> bool:
    return a.points.tobytes() == b.points.tobytes() and a.weights.tobytes() == b.weights.tobytes()
