"""The log: everything that happens in a study, on the disk before it counts."""

from typing import TYPE_CHECKING

from equipoise._lazy import lazily

if TYPE_CHECKING:  # public
    from equipoise.log.codec import Codec as Codec
    from equipoise.log.events import Asked as Asked
    from equipoise.log.events import Corrected as Corrected
    from equipoise.log.events import Event as Event
    from equipoise.log.events import Expired as Expired
    from equipoise.log.events import Failed as Failed
    from equipoise.log.events import Handed as Handed
    from equipoise.log.events import Noted as Noted
    from equipoise.log.events import Retracted as Retracted
    from equipoise.log.events import Stamped as Stamped
    from equipoise.log.events import Told as Told
    from equipoise.log.header import Header as Header
    from equipoise.log.journal import Journal as Journal
    from equipoise.log.journal import Log as Log
    from equipoise.log.journal import MemoryLog as MemoryLog
    from equipoise.log.jsonl import LogError as LogError
    from equipoise.log.jsonl import TornLine as TornLine

if TYPE_CHECKING:  # for the other packages of the library
    from equipoise.log.codec import MAX_PLANNED, across, widened
    from equipoise.log.events import (
        FORMER_SETTINGS,
        Added,
        Begun,
        Canceled,
        Planned,
        Purpose,
        Refitted,
        Set,
        Step,
        Teaching,
        Widened,
        unfitted,
        without_fits,
    )
    from equipoise.log.fits import KeptFit
    from equipoise.log.jsonl import Lines
    from equipoise.log.lock import FileLock, LockTimeoutError
    from equipoise.log.parts import described, known_part, restored
    from equipoise.log.streams import AUDIT, COINS, DESIGN, FRONT, PAIRS, PROPOSE, RANKS, RECOMMEND, Streams
    from equipoise.log.turns import Turns, now
else:
    __getattr__ = lazily(__name__)
