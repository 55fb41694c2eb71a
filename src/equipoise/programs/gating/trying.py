"""`eq.Gate`: measures a candidate beside the champion, and decides keep, discard or not decided."""

import math
import os
import secrets
import statistics
import time
import warnings
from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any

import numpy as np

from equipoise import _validation as check
from equipoise.answer import Interval
from equipoise.log import LogError, now
from equipoise.programs import Records
from equipoise.programs.gating.night import Night, Trialed
from equipoise.programs.gating.stream import Assessment, Look, Rules, Stream

Measure = Callable[[int], float]
"""A function that measures a version on a seed, given by its number."""

FORMAT = 1
KIND = "equipoise-gate"
FIRST = 4
"""Readings of the champion before the first idea is tried, each on a different seed."""


class CandidateError(Exception):
    """A candidate could not be measured and is discarded; the message contains the reason."""


class Gate:
    """A gate that decides for each idea of a stream: keep, discard or not decided.

    Args:
        champion: Measures the present champion on a seed: a function from the number of a seed to a number.
        lower: Whether a lower reading is better.
        log: A file that records everything; an existing file is continued.
        name: The name of the champion.
        about: Further facts about it for the log, used by the shell.
        rng: Seed of the random orders, an integer.
        notify: Called with each notice for the user.
        fatal: Errors that do not concern the candidate; they end its trial, which can be continued.
        **rules: The parameters of `Rules`: `margin`, `alpha`, `most` readings of a candidate, `seeds` if they are few.

    Example:
        >>> rng = np.random.default_rng(0)
        >>> def model(skill):
        ...     return lambda seed: skill + np.sin(seed) + 0.1 * rng.normal()
        >>> gate = Gate(model(1.0), rng=0)
        >>> gate.test(model(2.0), "wider").decision
        'keep'
        >>> gate.test(model(1.5), "shorter").decision
        'discard'
        >>> gate.champion
        'wider'
    """

    def __init__(
        self,
        champion: Measure,
        *,
        lower: bool = False,
        log: str | os.PathLike[str] | None = None,
        name: str = "champion",
        about: Mapping[str, Any] | None = None,
        rng: int | None = None,
        notify: Callable[[Warning], object] = warnings.warn,
        fatal: tuple[type[Exception], ...] = (),
        **rules: Any,
    ) -> None:
        if not callable(champion):
            raise TypeError(f"`champion` must be a function from a seed to a number, got {champion!r}")
        seed = secrets.randbits(32) if rng is None else check.count("rng", rng, 0)
        said = {"champion": name, "about": dict(about or {}), "lower": bool(lower), "rules": asdict(Rules(**rules))}
        first = {**said, "coins": seed, "at": now()}
        self._records = (
            None if log is None else Records(log, KIND, FORMAT, "a log of a gate", self._enter, first, notify)
        )
        self.first: Mapping[str, Any] = first if self._records is None else self._records.first
        self._begin()
        self._measures: dict[int, Measure] = {0: champion}
        self._fatal = fatal
        if self._records is not None:
            self._records.read()
            self._measures = {self._stream.champion: champion}

    @property
    def champion(self) -> str:
        """The name of the champion."""
        return self._names[self._stream.champion]

    @property
    def about(self) -> Mapping[str, Any]:
        """The facts about the champion in the log."""
        return self._about[self._stream.champion]

    @property
    def seconds(self) -> float:
        """The median seconds of a reading of the champion; 0 before the first reading."""
        return statistics.median(self._took) if self._took else 0.0

    @property
    def trying(self) -> str:
        """The name of the idea whose trial was interrupted; empty if there is none."""
        return "" if self._stream.candidate is None else self._names[self._stream.candidate]

    def begin(self) -> None:
        """Measure the champion for the first time, unless it was measured before."""
        while len(self._stream.readings.values) < min(FIRST, self._stream.rules.seeds or FIRST):
            self._look(Look(self._stream.champion, len(self._stream.readings.values)))

    def test(self, candidate: Measure, name: str, about: Mapping[str, Any] | None = None) -> Trialed:
        """Try an idea; if it is kept, it becomes the champion.

        An interrupted trial continues if the name is the same. An exception in the candidate discards it; an exception
        in the champion ends the trial, which can be continued.

        Args:
            candidate: Measures it on a seed.
            name: The name of the idea.
            about: Further facts about it for the log.
        """
        if not callable(candidate):
            raise TypeError(f"`candidate` must be a function from a seed to a number, got {candidate!r}")
        self.begin()
        if self._stream.candidate is not None and self.trying != name:
            self._settle(self._stream.standing(), "another idea was tried before it was decided", "open")
        if self._stream.candidate is None:
            self._say({"try": name, "about": dict(about or {})})
        number = self._stream.candidate
        assert number is not None
        self._measures[number] = candidate
        known = self._decided()
        if known.decision == "keep":
            self._measures = {self._stream.champion: candidate}
        return Trialed(name, known)

    def status(self) -> Night:
        """Return the results of all ideas so far."""
        stream = self._stream
        return Night(
            self.champion,
            tuple(self._ideas),
            stream.gain(),
            self._record(),
            len(stream.readings.values),
            stream.rules.alpha,
            self.trying,
        )

    def _record(self) -> float:
        """Return the gain of the best reading over the first champion's mean."""
        readings = self._stream.readings
        if not len(readings.values):
            return 0.0
        return float(readings.values.max() - readings.values[readings.versions == 0].mean())

    def _decided(self) -> Assessment:
        """Measure the candidate until it is decided or fails; settle it."""
        stream = self._stream
        while True:
            known = stream.standing()
            if known.decision != "open" or known.looks >= stream.rules.most:
                return self._settle(known)
            coins = np.random.default_rng([int(self.first["coins"]), len(stream.readings.values)])
            try:
                for look in stream.next_looks(coins):
                    self._look(look)
            except CandidateError as error:
                return self._settle(stream.standing(), str(error), "discard")

    def _look(self, look: Look) -> None:
        """Measure once, and record the reading."""
        begun = time.monotonic()
        value = self._measured(look)
        took = round(time.monotonic() - begun, 3)
        self._say({"read": look.version, "seed": look.seed, "value": value, "seconds": took})

    def _measured(self, look: Look) -> float:
        if look.version == self._stream.champion:
            return check.number("the value of the champion", self._measures[look.version](look.seed))
        try:
            return check.number("the value of the candidate", self._measures[look.version](look.seed))
        except self._fatal:
            raise
        except Exception as error:  # any error of a candidate is a finding about it
            reason = getattr(error, "reason", str(error)) or type(error).__name__  # that of a program has more to say
            raise CandidateError(f"it failed on seed {look.seed}: {reason}") from error

    def _settle(self, known: Assessment, why: str = "", decision: str | None = None) -> Assessment:
        said = {"settled": decision or known.decision, "effect": known.effect.known, "why": why}
        numbers = {"evidence": known.evidence, "needed": known.needed, "chance": known.chance, "looks": known.looks}
        self._say({**said, **numbers})
        return self._stream.tried[-1]

    def _say(self, what: Mapping[str, Any]) -> None:
        """Write an event to the disk, and apply it."""
        event = {**what, "at": now()}
        if self._records is None:
            self._enter(event)
            return
        with self._records.writing():
            self._records.append(event)

    def _begin(self) -> None:
        """Begin with the champion alone, from the first line."""
        try:
            self._stream = Stream(Rules(**self.first["rules"]))
            self._sign = -1.0 if self.first["lower"] else 1.0
            self._names, self._about = {0: str(self.first["champion"])}, {0: dict(self.first["about"])}
        except (KeyError, TypeError, ValueError) as error:
            raise LogError(f"the first line of the log cannot be read: {error!r}") from None
        self._ideas: list[Trialed] = []
        self._took: list[float] = []

    def _enter(self, event: Mapping[str, Any]) -> None:
        """Apply an event."""
        stream = self._stream
        if "try" in event:
            number = stream.begin()
            self._names[number], self._about[number] = str(event["try"]), dict(event["about"])
        elif "read" in event:
            stream.read(Look(int(event["read"]), int(event["seed"])), self._sign * float(event["value"]))
            self._took += [float(event["seconds"])] if event["read"] == stream.champion else []
        elif "settled" in event:
            number = stream.candidate if stream.candidate is not None else -1
            low, high = (math.inf if x is None else float(x) for x in event["effect"][1:])
            effect = Interval(float(event["effect"][0]), -math.inf if event["effect"][1] is None else low, high)
            numbers = (float(event["evidence"]), float(event["needed"]), float(event["chance"]), int(event["looks"]))
            stream.settle(Assessment(effect, *numbers, event["settled"], str(event["why"])))
            self._ideas.append(Trialed(self._names[number], stream.tried[-1]))
            self._names[stream.champion] = self._names[number] if event["settled"] == "keep" else self.champion
            self._about[stream.champion] = self._about[number] if event["settled"] == "keep" else dict(self.about)
        else:
            raise KeyError("read")
