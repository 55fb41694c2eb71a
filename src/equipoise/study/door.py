"""The door of a study: what may be told of a trial, as an event; everything else is refused before it is written."""

import zlib
from dataclasses import dataclass, replace
from typing import Any

from equipoise import _validation as check
from equipoise.data import Reading
from equipoise.log import Added, Corrected, Expired, Failed, Retracted, Told
from equipoise.spaces import Domain
from equipoise.study.docket import Docket
from equipoise.study.ledger import Ledger


@dataclass(frozen=True, eq=False)
class Door:
    """Turns what is told of a trial into an event, or refuses it.

    Where a method takes an x, that is where its teller believes the trial should have been measured, as the user knows
    it; `None` if that is not said.

    Attributes:
        ledger: All trials.
        space: Where points lie.
        docket: All pairs that were handed out to be judged.
        block: To which block what is told belongs.
    """

    ledger: Ledger
    space: Domain
    docket: Docket
    block: str = ""

    def news(self, i: int, reading: Reading, x: Any = None) -> Told | None:
        """Return the event of a reading that is told now: it belongs to the present block and to its worker."""
        told = self.telling(i, reading, x)
        if told is None:
            return None
        block = labelled(reading.told.block or self.block, self.ledger.of_trial[i].worker)
        return Told(i, replace(told.reading, told=replace(reading.told, block=block)))

    def adding(self, reading: Reading) -> Added:
        """Return the event of a reading that nobody asked for; of another block than the present one it is earlier."""
        told = reading.told
        campaign = told.block if told.block != self.block else ""
        now = replace(told, block=told.block or self.block, campaign=campaign)
        return Added(self.ledger.trials, len(self.ledger.entries), replace(reading, told=now))

    def telling(self, i: int, reading: Reading, x: Any = None) -> Told | None:
        """Return the event of a reading, or refuse it; `None` where it was told before and is no news."""
        if i in self.ledger.told:
            self._must_be_as_told(i, reading)
            return None
        entry = self.ledger.must_be_open(i)
        self._must_be_ours(i, x)
        return Told(i, reading if reading.point is not None else replace(reading, point=entry.moved.get(i)))

    def failing(self, i: int, reason: str, x: Any = None) -> Failed | None:
        """Return the event of a failure, or of a pair that is skipped, or refuse it; `None` where that is no news."""
        if i in self.docket:
            self.docket.must_be_open(i)
            return Failed(i, reason)
        if i in self.ledger.failed:
            return None
        if i in self.ledger.told:
            raise ValueError(f"`trial` must be open to fail, got {i}, which was told {self.ledger.told[i].value!r}")
        self.ledger.must_be_open(i)
        self._must_be_ours(i, x)
        return Failed(i, reason)

    def expiring(self, i: int, x: Any = None) -> Expired:
        """Return the event of a trial that is taken back, or refuse it."""
        self.ledger.must_be_open(i)
        self._must_be_ours(i, x)
        return Expired(i)

    def correcting(self, i: int, **changes: Any) -> Corrected:
        """Return the event of a reading that is corrected, or refuse it.

        Args:
            i: The trial.
            **changes: What is different about its reading.
        """
        return Corrected(i, replace(self.must_be_told(i), **changes))

    def retracting(self, i: int) -> Retracted:
        """Return the event of an answer that is taken back, or refuse it."""
        if i not in self.ledger.failed and not self.docket.answers(i):
            self.must_be_told(i)
        return Retracted(i)

    def must_be_told(self, i: int) -> Reading:
        """Return the reading of a trial; refuse a trial that has none."""
        if i not in self.ledger.told:
            raise ValueError(f"`trial` must be one whose reading was told, got {i}")
        return self.ledger.told[i]

    def _must_be_as_told(self, i: int, reading: Reading) -> None:
        """Refuse a reading that contradicts what was told before; what it does not say it does not contradict."""
        told, at = self.ledger.told[i], self.ledger.of_trial[i].point(i)
        same = {name: (getattr(told, name), getattr(reading, name)) for name in ("value", "time", "error")}
        if reading.point is not None and reading.point.tobytes() != at.tobytes():
            same["x"] = (self.space.decode(at), self.space.decode(reading.point))
        for name, (before, now) in same.items():
            if now is not None and (name == "x" or now != before):
                rule = f"`{name}` of trial {i} must stay {before!r}, as told before"
                raise ValueError(f"{rule}, got {now!r}: see `correct`")

    def _must_be_ours(self, i: int, x: Any) -> None:
        encode, ours = self.space.encode, self.ledger.handed[i].x
        if x is not None and x is not ours and encode(x).tobytes() != encode(ours).tobytes():
            raise ValueError(f"`trial` must be one of this optimizer, whose trial {i} is at {ours}, got one at {x}")


def labelled(block: str, worker: str | None) -> str:
    """Return the name of a block: each worker has its own, each day.

    Example:
        >>> labelled("monday", "w1"), labelled("", "w1"), labelled("monday", None)
        ('monday, w1', 'w1', 'monday')
    """
    label = ", ".join(name for name in (block, worker) if name and name.strip())
    # A worker may be called anything; a block must have a name that can be read again from the log.
    plain = "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in label)
    if len(plain) <= check.MAX_NAME:
        return plain
    return plain[: check.MAX_NAME - 9] + f"-{zlib.crc32(plain.encode()):08x}"
