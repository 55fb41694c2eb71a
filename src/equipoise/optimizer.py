"""The ask/tell shell around policy, reduction and belief: the only mutable object, and it does no mathematics."""

import os
import warnings
from collections.abc import Iterable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

from equipoise import _validation as check
from equipoise._linalg import one_thread
from equipoise._typing import Seed
from equipoise.answer import Recommendation, recommended
from equipoise.belief import Confidence, Posterior
from equipoise.data import Duel, Reading, Trial
from equipoise.kernels import Kernel
from equipoise.log.events import Asked, Event, Handed
from equipoise.log.header import Header
from equipoise.log.journal import Journal, Log
from equipoise.log.turns import Turns
from equipoise.offsets import Offset
from equipoise.policies import Policy
from equipoise.reductions import Reduction
from equipoise.spaces import Domain
from equipoise.spaces.constraints import Constraint
from equipoise.study import Proposer, Record, Rules, State, Streams
from equipoise.study.defaults import default_explorer, default_offset, default_policy, default_posterior, offset_of
from equipoise.study.streams import PROPOSE, RECOMMEND

FEW_POINTS = 64
"""On a set of so few points BLAS does not use threads, and limiting them costs a few microseconds for nothing."""


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
        design: How many points, spread over the space, are measured first; by default as many as the dimension asks for
            where the model is learned, else none. Further ones follow at times. 0 for neither.
        minimize: Look for the smallest value instead of the largest.
        max_gap: Give up a pair whose halves were measured further apart than this, by the times told.
        rng: Seed, generator or `Streams`; the same one and the same answers give the same run.
        log: A new file in which every event is written before it counts; `resume` rebuilds the optimizer from it, also
            in other processes, which may work on it together. Or a `Journal` of your own, taken up where it ends. In
            memory only by default, and so are copies.

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
        design: int | None = None,
        minimize: bool = False,
        max_gap: float | None = None,
        rng: Seed | Streams = None,
        log: str | os.PathLike[str] | Journal | None = None,
    ) -> None:
        self.space: Domain = _part("space", space, "candidates", "Space(q=Float(0, 1)), Box(bounds) or Finite(points)")
        learned = kernel is None and posterior is None
        self.policy: Policy = _part("policy", policy, "scores", "Challenger()") or default_policy(learned)
        self.reduction: Reduction = _part("reduction", reduction, "baseline", "TwoPoint()") or self.policy.reduction
        _part("kernel", kernel, "with_gradient", "RBF(0.2)")
        _part("offset", offset, "learns_readings", "Tracked()")
        _part("confidence", confidence, "__call__", "TightConfidence(outcome_noise=0.1)")
        _part("posterior", posterior, "condition", "AnywherePosterior(RBF(0.2))")
        self.minimize = bool(minimize)
        self.max_gap = None if max_gap is None else check.positive("max_gap", max_gap)
        self.design = None if design is None else check.count("design", design, at_least=0)
        if posterior is not None and any(part is not None for part in (kernel, offset, confidence, regularizer)):
            own = "kernel, offset, confidence and regularizer"
            raise ValueError(f"`posterior` has its own {own}: give either it or those")
        if posterior is not None:
            self.offset, prior = offset_of(posterior, self.reduction), posterior
        else:
            self.offset = default_offset(self.reduction, kernel) if offset is None else offset
            prior = default_posterior(space, kernel, self.offset, confidence, regularizer)
        self._state = State(Rules(space, prior, self.offset, self.reduction.baseline, self.minimize, self.max_gap))
        self._streams = rng if isinstance(rng, Streams) else Streams(rng)
        explorer = default_explorer(space, self.reduction, self.design, self._streams) if learned or design else None
        self._proposer = Proposer(space, self.policy, self.reduction, explorer)
        self._turns = Turns(self._mend, self._apply)
        if log is not None:
            self._write_to(log, self._parts(kernel, posterior))

    @property
    def posterior(self) -> Posterior:
        """The belief, given everything told; immutable."""
        return self._state.posterior

    @property
    def readings(self) -> int:
        """How many readings were told."""
        return self._state.readings

    @property
    def open_trials(self) -> tuple[int, ...]:
        """The trials handed out and not yet told."""
        return self._turns.look(lambda: self._state.open_trials)

    @property
    def log(self) -> Path | None:
        """The file in which every event is written; `None` where the study is in memory only."""
        return None if self._turns.journal is None else self._turns.journal.path

    def records(self) -> list[Record]:
        """Return what became of every trial handed out: those told, in the order of telling, then the others."""
        return self._turns.look(lambda: self._state.records())

    def ask(self, *, worker: str | None = None) -> Trial:
        """Return what to measure next.

        Args:
            worker: Who will measure. Both halves of a pair go to one worker, so that an offset of its own cancels.
        """
        if worker is not None and not isinstance(worker, str):
            raise TypeError(f"`worker` must be a name, got {worker!r}")
        return self._turns.change(lambda: self._ask(worker))

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
        i, planned = _number(trial), trial.x if isinstance(trial, Trial) else None
        if failed is None:
            reading = self._reading(value, x, time, error)
            note = self._turns.change(lambda: self._news(self._state.telling(i, reading, planned)))
        else:
            note = self._turns.change(lambda: self._news(self._state.failing(i, str(failed), planned)))
        if note is not None:
            warnings.warn(note, stacklevel=2)

    def correct(
        self, trial: Trial | int, value: Any, *, x: Any = None, time: float | None = None, error: float | None = None
    ) -> None:
        """Replace the reading of a trial by another: everything is as if it had been told in the first place.

        Args:
            trial: The trial, or its id.
            value: The reading.
            x: Where it was really measured; as told before by default.
            time: When it was measured; as told before by default.
            error: The reading's own standard error; as told before by default.
        """
        read = self._reading(value, x, time, 0.0 if error is None else error)
        known = {"point": x, "time": time, "error": error}
        given = {name: getattr(read, name) for name, told in known.items() if told is not None}
        i = _number(trial)
        self._turns.change(lambda: self._happen(self._state.correcting(i, value=read.value, **given)))

    def retract(self, trial: Trial | int) -> None:
        """Take back what was told of a trial, a reading or a failure, as if it had not been: it is open again."""
        i = _number(trial)
        self._turns.change(lambda: self._happen(self._state.retracting(i)))

    def undo(self) -> int:
        """Take back the last reading or failure that was told, and return its trial, which is open again."""
        return self._turns.change(self._undo)

    def expire(self, trial: Trial | int) -> None:
        """Take back a trial whose worker is lost: the next `ask` of that worker hands it out again."""
        i, planned = _number(trial), trial.x if isinstance(trial, Trial) else None
        self._turns.change(lambda: self._happen(self._state.expiring(i, planned)))

    def propose(self) -> Duel:
        """Return the duel that the next `ask` would begin if no trial were waiting; nothing happens."""
        return self._turns.look(self._proposed)

    def replay(self, event: Event) -> None:
        """Let an event happen that is written elsewhere; nothing is written."""
        self._turns.look(lambda: self._apply(event))

    def recommend(self) -> Recommendation:
        """Return the best setting as far as is known, with a bound on what is left to gain."""
        return self._turns.look(self._recommend)

    def history(self, readings: Iterable[int]) -> list[Recommendation]:
        """Return what `recommend` would have said after so many readings each; costs about as much as a replay.

        Args:
            readings: Numbers of readings, ascending.
        """
        return self._turns.look(lambda: self._history(set(readings)))

    def done(self, eps: float) -> bool:
        """Return whether no other point is better than the recommended one by more than `eps`: the certificate."""
        return self.recommend().gap_bound <= check.positive("eps", eps)

    def __getstate__(self) -> dict[str, Any]:
        # What other threads may change while this one writes is copied while they cannot. One history, one writer.
        state = self.__dict__ | {"_state": self._turns.look(lambda: self._state.copied())}
        del state["_turns"]
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._turns = Turns(self._mend, self._apply)

    def _ask(self, worker: str | None) -> Trial:
        waits, state = self._state.waiting(worker), self._state
        if waits is not None:
            self._happen(Handed(waits.id, worker))
            return waits
        event = Asked(state.trials, state.duels, self._proposed(), worker)
        self._happen(event)
        return state.handed(event.trial)

    def _undo(self) -> int:
        last = self._state.last_answered
        if last is None:
            raise RuntimeError("there is nothing to undo: nothing was told yet")
        self._happen(self._state.retracting(last))
        return last

    def _news(self, event: Event | None) -> Warning | None:
        return None if event is None else self._happen(event)

    def _happen(self, event: Event) -> Warning | None:
        """Prepare an event, write it, make its change; return what the user should know of it."""
        with self._calmly():
            change = self._state.prepare(event)
        if self._turns.journal is not None:
            self._turns.journal.write(event)
        change.make()
        return change.note

    def _mend(self) -> None:
        """Make the memory anew where an interrupt came in the middle of a change: from the events that happened."""
        if not self._state.whole:
            with self._calmly():
                self._state = self._state.rebuilt()

    def _apply(self, event: Event) -> None:
        """Make the change of an event that is written, as it was made live: to the last bit, so on one thread too."""
        with self._calmly():
            self._state.apply(event)

    def _proposed(self) -> Duel:
        with self._calmly():
            return self._proposer.duel(self._state, self._streams.at(self._state.duels, PROPOSE))

    def _recommend(self) -> Recommendation:
        journal = self._turns.journal
        if journal is not None and (journal.path is None or journal.path.exists()):  # else what is in memory must do
            journal.follow(self._apply)
        return self._recommendation(self._state, self.readings)

    def _history(self, wanted: set[int]) -> list[Recommendation]:
        with self._calmly():
            past = zip(range(max(wanted, default=-1) + 1), self._state.history(), strict=False)
            return [self._recommendation(state, n) for n, state in past if n in wanted]

    def _recommendation(self, state: State, readings: int) -> Recommendation:
        with self._calmly():
            rng = self._streams.at(readings, RECOMMEND)
            return recommended(self.space, state.posterior, readings, rng, state.feasibility)

    def _calmly(self) -> AbstractContextManager[None]:
        """Return what keeps BLAS to one thread, where there is enough to compute for more."""
        points = self.posterior.points
        return nullcontext() if points is not None and len(points) <= FEW_POINTS else one_thread()

    def _reading(self, value: Any, x: Any, time: float | None, error: float) -> Reading:
        return Reading(
            check.number("value", value),
            None if x is None else self.space.encode(x),
            None if time is None else check.number("time", time),
            check.nonnegative("error", error),
        )

    def _parts(self, kernel: Kernel | None, posterior: Posterior | None) -> dict[str, Any]:
        """Return what a log must know to make this optimizer again: no default is left to a later version."""
        parts = {"policy": self.policy, "reduction": self.reduction, "minimize": self.minimize, "max_gap": self.max_gap}
        parts |= {"design": self.design}
        if posterior is not None:
            return parts | {"posterior": posterior}
        regularizer = None if kernel is None else self.posterior.regularizer
        learned = {"kernel": kernel, "regularizer": regularizer, "confidence": self.posterior.confidence}
        return parts | learned | {"offset": self.offset}

    def _write_to(self, log: str | os.PathLike[str] | Journal, parts: dict[str, Any]) -> None:
        """Begin a log, or take up a journal where it ends and go on writing it."""
        if isinstance(log, (str, os.PathLike)):
            self._turns.journal = Log.create(log, self.space, parts, self._streams.key.tolist())
            return
        with self._calmly():
            log.take_up(self._apply)
        self._turns.journal = log


def resume(
    path: str | os.PathLike[str],
    *,
    space: Domain | None = None,
    constraint: Constraint | None = None,
    **parts: Any,
) -> Optimizer:
    """Return the optimizer of a study as it was when its log was last written.

    The same posterior to the last bit, the same open trials and the same next proposals, as if nothing had happened:
    every event is replayed, no proposal is made anew. What a crash has left of a last line is removed, with a
    `TornLine` warning. Several processes may take up one log and work on it together.

    Args:
        path: The log: the file given to `Optimizer` as `log`.
        space: The space, where its choices are objects that JSON cannot hold.
        constraint: The constraint of the space, where it has one.
        **parts: Of the arguments of `Optimizer`, those that JSON cannot hold: a policy or kernel of your own.

    Raises:
        LogError: The file is missing, damaged or of a later format.

    Example:
        >>> import tempfile, equipoise as eq
        >>> path = os.path.join(tempfile.mkdtemp(), "study.jsonl")
        >>> opt = eq.Optimizer(eq.Space(q1=eq.Float(-2, 2)), log=path, rng=0)
        >>> opt.tell(opt.ask(), 0.83)
        >>> again = eq.resume(path)  # after a crash, or in another process
        >>> again.readings, again.ask().id
        (1, 1)
    """
    header = Header.read(path)
    where = header.space(space, constraint)
    settings = header.parts(parts)
    opt = header.made(lambda: Optimizer(where, **settings, rng=Streams(key=header.key)), given=bool(parts))
    opt._write_to(Log.of(header, where), {})
    return opt


def _part(name: str, part: Any, attribute: str, example: str) -> Any:
    """Return a part that was given, if it is an object of the right kind; `None` where it was not given."""
    if (part is None and name != "space") or (hasattr(part, attribute) and not isinstance(part, type)):
        return part
    raise TypeError(f"`{name}` must be an object such as {example}, got {part!r}")


def _number(trial: Trial | int) -> int:
    return trial.id if isinstance(trial, Trial) else check.count("trial", trial, at_least=0)
