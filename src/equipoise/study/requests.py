"""Requests: valid answers become events; everything else is refused before it is written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from equipoise import _validation as check
from equipoise.data import OF, Preference, Reading
from equipoise.log import Failed, Told
from equipoise.offsets import NOTHING_TOLD, Circumstances

if TYPE_CHECKING:
    from equipoise.data import Answer
    from equipoise.study.ledger import Entry, Ledger
    from equipoise.study.setup import Setup

SAME = 1e-9
"""Settings that differ by less are the same: a range that was widened has changed them by rounding."""


@dataclass(frozen=True, eq=False)
class GivenAnswer:
    """An unchecked answer, as programs give it.

    Attributes:
        value: The reading, in the form of the likelihood; for a pair a word or a number.
        x: The setting that was really measured.
        time: The time of the measurement.
        error: The reading's own standard error.
        block: Its block.
        covariates: Other measured quantities.
        judge: The judge of a pair.
        missing: The outputs without a number.
    """

    value: Any
    x: Any = None
    time: float | None = None
    error: float | None = None
    block: str | None = None
    covariates: Mapping[str, float] | None = None
    judge: str | None = None
    missing: Sequence[str] = ()

    def reading(self, setup: Setup) -> Reading:
        """Return it as the reading of a trial, or refuse it."""
        if self.judge is not None:
            raise ValueError(f"`judge` is for a pair: a reading has none, got {self.judge!r}")
        first, values = self._numbers(setup)
        return Reading(
            first,
            None if self.x is None else setup.space.encode(self.x),
            None if self.time is None else check.number("time", self.time),
            0.0 if self.error is None else check.standard_error("error", self.error),
            circumstances=self._circumstances(),
            values=values,
        )

    def _numbers(self, setup: Setup) -> tuple[float, dict[str, float]]:
        """Return the value of a reading, and all its numbers by name if there are several; checked."""
        outputs, value = setup.outputs, self.value
        if outputs is not None and (isinstance(value, Mapping) or setup.columns or self.missing):
            values, first = outputs.read(value, self.missing), outputs.first.name
            value = setup.likelihood.check(f"value[{first!r}]", values[first])[0]
            return value, values if setup.columns else {}
        if self.missing:
            raise ValueError(f"`missing` must name outputs, of which this study has none, got {self.missing!r}")
        if isinstance(value, Mapping):
            raise ValueError(f"`value` must be a number: the study has no `objective` that names one, got {value!r}")
        found, *rest = setup.likelihood.check("value", value)
        return found, {OF: rest[0]} if rest else {}

    def _circumstances(self) -> Circumstances:
        """Return the circumstances of a reading, checked."""
        silent = self.block is None and self.covariates is None
        return NOTHING_TOLD if silent else Circumstances.of(self.block, None, self.covariates)


@dataclass(frozen=True, eq=False)
class Requests:
    """Turns an answer to a trial or pair into an event, or refuses it.

    If a method takes an x, it is the setting at which the caller believes that the trial should have been measured;
    `None` if the caller does not say it.

    Attributes:
        ledger: All questions.
        setup: The setup of the study.
        block: The block to which a reading belongs.
    """

    ledger: Ledger
    setup: Setup
    block: str = ""

    def tell(self, i: int, said: GivenAnswer, x: Any = None, refit: bool = True) -> Told | None:
        """Return the event of a new answer: a reading belongs to the present block and to its worker.

        `x` is as for all methods. Without `refit` a fit that is due is deferred.
        """
        if i in self.ledger.pairs:
            from equipoise.study.judged_pairs import must_be_pair, preference

            return self.telling(i, preference(said, must_be_pair(self.ledger, i)))
        if i not in self.ledger.of_trial:
            self.ledger.must_be_open(i)
        reading = said.reading(self.setup)
        told = self.telling(i, reading, x)
        if told is None or not isinstance(told.answer, Reading):
            return None
        block = label(reading.circumstances.block or self.block, self.ledger.of_trial[i])
        answer = told.answer
        if block != answer.circumstances.block:  # to copy a record costs as much as to look it up
            answer = replace(answer, circumstances=replace(answer.circumstances, block=block))
        return Told(i, answer, deferred=not refit)

    def telling(self, i: int, answer: Answer, x: Any = None) -> Told | None:
        """Return the event of an answer, or refuse it; `None` if it was told before."""
        if isinstance(answer, Preference):
            from equipoise.study.judged_pairs import judged_alike

            return None if judged_alike(self.ledger, i, answer) else Told(i, answer)
        if i in self.ledger.readings:
            self._must_be_as_told(i, answer)
            return None
        entry = self.ledger.must_be_open(i)
        self.must_be_ours(i, x)
        moved = entry.moved.get(i) if answer.point is None else None
        return Told(i, answer if moved is None else replace(answer, point=moved))

    def fail(self, i: int, reason: str, x: Any = None) -> Failed | None:
        """Return the event of a failure, or of a skipped pair, or refuse it; `None` if it was told before."""
        if i in self.ledger.pairs:
            from equipoise.study.judged_pairs import must_be_open_pair

            must_be_open_pair(self.ledger, i)
            return Failed(i, reason)
        if i in self.ledger.failed:
            return None
        if i in self.ledger.readings:
            raise ValueError(f"`trial` must be open to fail, got {i}, which was told {self.ledger.readings[i].said!r}")
        self.ledger.must_be_open(i)
        self.must_be_ours(i, x)
        return Failed(i, reason)

    def _must_be_as_told(self, i: int, reading: Reading) -> None:
        """Refuse a reading that contradicts an earlier one; missing fields do not contradict."""
        told, at = self.ledger.readings[i], self.ledger.of_trial[i].point(i)
        same: dict[str, tuple[Any, Any]] = {"value": (told.said, reading.said)}
        same |= {name: (getattr(told, name), getattr(reading, name)) for name in ("time", "error")}
        if reading.point is not None and reading.point.tobytes() != at.tobytes():
            same["x"] = (self.setup.space.decode(at), self.setup.space.decode(reading.point))
        for name, (before, now) in same.items():
            if now is not None and (name == "x" or now != before):
                rule = f"`{name}` of trial {i} must stay {before!r}, as told before"
                raise ValueError(f"{rule}, got {now!r}: see `correct`")

    def must_be_ours(self, i: int, x: Any) -> None:
        """Refuse an open trial that the caller believes at another setting: it belongs to another optimizer."""
        encode, ours = self.setup.space.encode, self.ledger.handed[i].x
        if x is not None and x is not ours and np.abs(encode(x) - encode(ours)).max() > SAME:
            raise ValueError(f"`trial` must be one of this optimizer, whose trial {i} is at {ours}, got one at {x}")


def label(block: str, entry: Entry) -> str:
    """Return the block of a reading: its seed if it has one, else its worker, inside the given block."""
    if entry.worker is None and entry.seed is None:
        return block
    from equipoise.offsets import block_of, seed_label

    return block_of(block, entry.worker) if entry.seed is None else seed_label(block, entry.seed)
