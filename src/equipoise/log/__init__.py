"""The log: everything that happens in a study, on the disk before it counts."""

from typing import TYPE_CHECKING

from equipoise._lazy import lazily

if TYPE_CHECKING:
    from equipoise.log.codec import MAX_PLANNED as MAX_PLANNED
    from equipoise.log.codec import Codec
    from equipoise.log.codec import across as across
    from equipoise.log.codec import widened as widened
    from equipoise.log.events import FORMER_SETTINGS as FORMER_SETTINGS
    from equipoise.log.events import Added as Added
    from equipoise.log.events import Asked, Corrected, Event, Expired, Failed, Handed, Noted, Retracted, Stamped, Told
    from equipoise.log.events import Begun as Begun
    from equipoise.log.events import Canceled as Canceled
    from equipoise.log.events import Planned as Planned
    from equipoise.log.events import Purpose as Purpose
    from equipoise.log.events import Refitted as Refitted
    from equipoise.log.events import Set as Set
    from equipoise.log.events import Step as Step
    from equipoise.log.events import Teaching as Teaching
    from equipoise.log.events import Widened as Widened
    from equipoise.log.events import unfitted as unfitted
    from equipoise.log.events import without_fits as without_fits
    from equipoise.log.fits import KeptFit as KeptFit
    from equipoise.log.header import Header
    from equipoise.log.journal import Journal, Log, MemoryLog
    from equipoise.log.jsonl import Lines as Lines
    from equipoise.log.jsonl import LogError, TornLine
    from equipoise.log.lock import FileLock as FileLock
    from equipoise.log.lock import LockTimeoutError as LockTimeoutError
    from equipoise.log.parts import described as described
    from equipoise.log.parts import known_part as known_part
    from equipoise.log.parts import restored as restored
    from equipoise.log.streams import AUDIT as AUDIT
    from equipoise.log.streams import COINS as COINS
    from equipoise.log.streams import DESIGN as DESIGN
    from equipoise.log.streams import FRONT as FRONT
    from equipoise.log.streams import PAIRS as PAIRS
    from equipoise.log.streams import PROPOSE as PROPOSE
    from equipoise.log.streams import RANKS as RANKS
    from equipoise.log.streams import RECOMMEND as RECOMMEND
    from equipoise.log.streams import Streams as Streams
    from equipoise.log.turns import Turns as Turns
    from equipoise.log.turns import now as now
else:
    __getattr__ = lazily(__name__)

__all__ = [
    "Asked",
    "Codec",
    "Corrected",
    "Event",
    "Expired",
    "Failed",
    "Handed",
    "Header",
    "Journal",
    "Log",
    "LogError",
    "MemoryLog",
    "Noted",
    "Retracted",
    "Stamped",
    "Told",
    "TornLine",
]
