"""The log: everything that happens in a study, on the disk before it counts."""

from equipoise.log.codec import Codec
from equipoise.log.events import Asked, Corrected, Event, Expired, Failed, Handed, Noted, Retracted, Stamped, Told
from equipoise.log.header import Header
from equipoise.log.journal import Journal, Log, MemoryLog
from equipoise.log.jsonl import LogError, TornLine

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
