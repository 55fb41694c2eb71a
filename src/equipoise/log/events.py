"""What happens in a study: each kind of event is applied in one place, `study/state.py`.

event     what it says                                        JSON
Asked     a new duel was proposed, its first trial handed out {"ask": trial, "duel": number, "points": ...}
Handed    a trial that waited was handed out                  {"hand": trial}
Told      a reading                                           {"tell": trial, "value": number, ...}
Failed    a trial has no reading                              {"fail": trial, "reason": text}
Expired   a trial was taken back                              {"expire": trial}
Corrected a reading was wrong, and is another                 {"correct": trial, "value": number, ...}
Retracted a reading or failure never was                      {"retract": trial}
"""

from dataclasses import dataclass

from equipoise.data import Duel, Reading


@dataclass(frozen=True, slots=True, eq=False)
class Asked:
    """A new duel was proposed, and its first trial handed out."""

    trial: int
    number: int
    duel: Duel
    worker: str | None = None


@dataclass(frozen=True, slots=True)
class Handed:
    """A trial that waited was handed out."""

    trial: int
    worker: str | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Told:
    """A trial was read."""

    trial: int
    reading: Reading


@dataclass(frozen=True, slots=True)
class Failed:
    """A trial has no reading."""

    trial: int
    reason: str


@dataclass(frozen=True, slots=True)
class Expired:
    """A trial was taken back, to be handed out again."""

    trial: int


@dataclass(frozen=True, slots=True, eq=False)
class Corrected:
    """What was read of a trial is another reading, at its place among the readings."""

    trial: int
    reading: Reading


@dataclass(frozen=True, slots=True)
class Retracted:
    """What was told of a trial, a reading or a failure, is taken back: the trial is open again."""

    trial: int


Event = Asked | Handed | Told | Failed | Expired | Corrected | Retracted
