"""The ask/tell shell around policy, reduction and posterior: the only mutable object, and it does no mathematics."""

import os
import threading
import warnings
from collections.abc import Iterable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from equipoise import _validation as check
from equipoise._typing import Seed
from equipoise.confidence import Confidence
from equipoise.defaults import default_posterior
from equipoise.duel import Duel, Trial
from equipoise.events import Asked, Event, Expired, Failed, Handed, Told
from equipoise.kernels import Kernel
from equipoise.ledger import DuelGivenUp, Reading
from equipoise.log import Log, Turn
from equipoise.offsets import Arbitrary, Offset
from equipoise.policies import Challenger, Policy
from equipoise.posterior import Posterior
from equipoise.progress import Progress, Record
from equipoise.proposing import Proposer
from equipoise.recommending import Recommendation, recommended
from equipoise.reductions import Reduction
from equipoise.space import Domain
from equipoise.streams import PROPOSE, RECOMMEND, Streams

__all__ = ["Optimizer", "Recommendation"]


class Optimizer:
    """Optimizes what you measure, by comparing: ask, measure, tell, repeat.

    With a space and nothing else, the kernel, the noise and the law of the offset are learned from the readings. With
    a `kernel`, nothing is learned but f: the paper's setting. Every part is an object and can be replaced. `ask` and
    `tell` may be called from several threads; several trials may be open at once and told in any order.

    Args:
        space: Where points lie: `Space`, `Box` or `Finite`.
        kernel: Prior covariance of f on encoded points; learned by default.
        policy: Chooses what to propose; `Challenger()` by default.
        reduction: How a proposal is measured; by default the one the policy is meant for.
        offset: What is assumed of the bias: `Tracked()` by default, `Arbitrary()` with a `kernel` or for duels of a
            single reading.
        confidence: Confidence coefficient; two standard deviations by default, with a `kernel` a fixed 1.
        regularizer: Variance given to the noise of an outcome; learned by default, with a `kernel` 1.
        posterior: The belief before any data, where the above do not say it all.
        minimize: Look for the smallest value instead of the largest.
        max_gap: Give up a pair whose halves were measured further apart than this, by the times told.
        rng: Seed or generator; the same one and the same answers give the same run.
        log: A new file in which every event is written before it counts; `resume` rebuilds the optimizer from it, also
            in other processes, which may work on it together. In memory only by default, and so are copies.

    Example:
        >>> import equipoise as eq
        >>> opt = eq.Optimizer(eq.Space(q1=eq.Float(0, 1)), rng=0)
        >>> for day in range(60):  # the reading drifts by more than the signal: it does not matter
        ...     trial = opt.ask()
        ...     opt.tell(trial, -4 * (trial.x["q1"] - 0.7) ** 2 + 0.1 * day)
        >>> best = opt.recommend()
        >>> round(best.x["q1"], 1), best.readings
        (0.7, 60)
    """

    def __init__(
        self,
        space: Domain,
        *,
        kernel: Kernel | None = None,
        policy: Policy | None = None,
        reduction: Reduction | None = None,
        offset: Offset | None = None,
        confidence: Confidence | None = None,
        regularizer: float | None = None,
        posterior: Posterior | None = None,
        minimize: bool = False,
        max_gap: float | None = None,
        rng: Seed = None,
        log: str | os.PathLike[str] | None = None,
    ) -> None:
        self.space: Domain = _part("space", space, "candidates", "Space(q=Float(0, 1)), Box(bounds) or Finite(points)")
        self.policy: Policy = _part("policy", Challenger() if policy is None else policy, "reduction", "Challenger()")
        reduction = self.policy.reduction if reduction is None else reduction
        self.reduction: Reduction = _part("reduction", reduction, "baseline", "TwoPoint()")
        self.minimize = bool(minimize)
        self.max_gap = None if max_gap is None else check.positive("max_gap", max_gap)
        self._proposer = Proposer(space, self.policy, self.reduction)
        if posterior is not None and any(part is not None for part in (kernel, offset, confidence, regularizer)):
            own = "kernel, offset, confidence and regularizer"
            raise ValueError(f"`posterior` has its own {own}: give either it or those")
        if offset is None:
            offset = self.reduction.offset if kernel is None and posterior is None else Arbitrary()
        self.offset: Offset = offset
        prior = posterior
        if prior is None:
            prior = default_posterior(space, kernel, offset, confidence, regularizer)
        sign = -1.0 if self.minimize else 1.0
        self._progress = Progress(space, prior, self.reduction.baseline, sign, self.max_gap)
        self._streams = Streams(rng)
        self._lock = threading.RLock()
        self._log: Log | None = None
        self._turn: AbstractContextManager[Any] = self._lock
        if log is not None:
            self._write_to(Log.create(log, space, self._parts(kernel, posterior), self._streams.key.tolist()))

    @property
    def posterior(self) -> Posterior:
        """The belief, given everything told; immutable."""
        return self._progress.posterior

    @property
    def readings(self) -> int:
        """How many readings were told."""
        return len(self._progress.ledger.told)

    @property
    def open_trials(self) -> tuple[int, ...]:
        """The trials handed out and not yet told."""
        with self._lock:
            return self._progress.ledger.open_trials

    @property
    def log(self) -> Path | None:
        """The file in which every event is written; `None` where the study is in memory only."""
        return None if self._log is None else self._log.path

    def records(self) -> list[Record]:
        """Return what became of every trial handed out: those told, in the order of telling, then the others."""
        with self._lock:
            return self._progress.records()

    def ask(self, worker: str | None = None) -> Trial:
        """Return what to measure next.

        Args:
            worker: Who will measure. Both halves of a pair go to one worker, so that an offset of its own cancels.
        """
        ledger = self._progress.ledger
        with self._turn:
            trial = ledger.next_for(worker)
            if trial is None:
                duel = self._proposed()
                self._write(Asked(ledger.trials, ledger.duels, duel, worker))
                self._progress.enter(duel, worker)
            else:
                self._write(Handed(trial.id, worker))
            return ledger.hand_out(worker)

    def tell(
        self,
        trial: Trial | int,
        value: Any = None,
        *,
        x: Any = None,
        time: float | None = None,
        error: float = 0.0,
        failed: str | None = None,
    ) -> None:
        """Report the reading of a trial, or that there is none.

        Args:
            trial: The trial, or its id.
            value: The reading.
            x: Where it was really measured, if that is not where it should have been.
            time: When it was measured, in any unit; compared with `max_gap`.
            error: The reading's own standard error: the larger, the less it counts.
            failed: Instead of a value: why there is none. The duel is given up, with a `DuelGivenUp` warning.
        """
        if (value is None) == (failed is None):
            raise ValueError(f"exactly one of `value` and `failed` must be given, got {value!r} and {failed!r}")
        i = trial.id if isinstance(trial, Trial) else check.count("trial", trial, at_least=0)
        with self._turn:
            given_up = self._read(i, value, x, time, error) if failed is None else self._fail(i, str(failed))
        if given_up is not None:
            warnings.warn(given_up, DuelGivenUp, stacklevel=2)

    def expire(self, trial: Trial | int) -> None:
        """Take back a trial whose worker is lost: the next `ask` of that worker hands it out again."""
        i = trial.id if isinstance(trial, Trial) else check.count("trial", trial, at_least=0)
        with self._turn:
            self._progress.ledger.must_be_open(i)
            self._write(Expired(i))
            self._progress.ledger.reissue(i)

    def recommend(self) -> Recommendation:
        """Return the best setting as far as is known, with a bound on what is left to gain."""
        with self._lock:
            if self._log is not None and self._log.path.exists():  # else what is in memory must do
                self._log.follow(self._progress.replay)
            return self._recommendation(self.posterior, self.readings)

    def history(self, readings: Iterable[int]) -> list[Recommendation]:
        """Return what `recommend` would have said after so many readings each; costs about as much as a replay.

        Args:
            readings: Numbers of readings, ascending.
        """
        with self._lock:
            wanted = set(readings)
            past = self._progress.retraced(max(wanted, default=0))
            return [self._recommendation(posterior, n) for n, posterior in enumerate(past) if n in wanted]

    def done(self, eps: float) -> bool:
        """Return whether no other point is better than the recommended one by more than `eps`: the certificate."""
        return self.recommend().gap_bound <= check.positive("eps", eps)

    def __getstate__(self) -> dict[str, Any]:
        with self._lock:  # what other threads may change while this one writes: copied while they cannot
            state = self.__dict__ | {"_progress": self._progress.copied(), "_log": None}  # one history, one writer
        del state["_lock"], state["_turn"]
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._lock = self._turn = threading.RLock()

    def _proposed(self) -> Duel:
        return self._proposer.duel(self._progress, self._streams.at(self._progress.ledger.duels, PROPOSE))

    def _recommendation(self, posterior: Posterior, readings: int) -> Recommendation:
        return recommended(posterior, self._proposer, readings, self._streams.at(readings, RECOMMEND))

    def _read(self, i: int, value: Any, x: Any, time: float | None, error: float) -> str | None:
        """Learn from a reading; return why its duel is given up, if it is."""
        reading = Reading(
            check.number("value", value),
            None if x is None else self.space.encode(x),
            None if time is None else check.number("time", time),
            check.nonnegative("error", error),
        )
        entry = self._progress.ledger.expect(i, reading)
        if entry is None:
            return None
        lesson = self._progress.lesson(entry, i, reading)
        self._write(Told(i, reading))
        self._progress.learn(entry, i, reading, lesson)
        return f"duel {entry.number} given up: its halves were more than {self.max_gap} apart" if lesson.late else None

    def _fail(self, i: int, reason: str) -> str | None:
        """Give up the duel of a trial that failed; return why, unless it was given up before."""
        entry = self._progress.ledger.expect_failure(i)
        if entry is None:
            return None
        self._write(Failed(i, reason))
        given_up = None if entry.void else f"duel {entry.number} given up: trial {i} failed ({reason})"
        self._progress.ledger.fail(i, reason)
        return given_up

    def _write(self, event: Event) -> None:
        """Put an event on the disk, before it happens in memory."""
        if self._log is not None:
            self._log.write(event)

    def _parts(self, kernel: Kernel | None, posterior: Posterior | None) -> dict[str, Any]:
        """Return what a log must know to make this optimizer again: no default is left to a later version."""
        parts = {"policy": self.policy, "reduction": self.reduction, "minimize": self.minimize, "max_gap": self.max_gap}
        if posterior is not None:
            return parts | {"posterior": posterior}
        regularizer = None if kernel is None else self.posterior.regularizer
        learned = {"kernel": kernel, "regularizer": regularizer, "confidence": self.posterior.confidence}
        return parts | learned | {"offset": self.offset}

    def _take_up(self, log: Log, key: list[int]) -> None:
        """Become what a log says, and go on writing it."""
        self._streams = Streams(key=key)
        log.take_up(self._progress.replay)
        self._write_to(log)

    def _write_to(self, log: Log) -> None:
        self._log = log
        self._turn = Turn(self._lock, log, self._progress.replay)


def _part(name: str, part: Any, attribute: str, example: str) -> Any:
    if isinstance(part, type) or not hasattr(part, attribute):
        raise TypeError(f"`{name}` must be an object such as {example}, got {part!r}")
    return part
