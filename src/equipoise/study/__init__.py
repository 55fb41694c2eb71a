"""A study: its state, what it proposes next, what it claims, its random streams, and the defaults."""

from equipoise.study.claiming import Claims, WrongUnit
from equipoise.study.hearing import Hearing
from equipoise.study.keeper import Keeper
from equipoise.study.league import Rank
from equipoise.study.ledger import DropExceeded, DuelGivenUp, Estranged, GapUnknown
from equipoise.study.outliers import DeadSensor, SetAside
from equipoise.study.plans import Plan
from equipoise.study.proposing import Proposer
from equipoise.study.reproducing import Reproduction, agree
from equipoise.study.rules import Note, Record, Setting
from equipoise.study.setup import Setup
from equipoise.study.state import State
from equipoise.study.streams import Streams

__all__ = [
    "Claims",
    "DeadSensor",
    "DropExceeded",
    "DuelGivenUp",
    "Estranged",
    "GapUnknown",
    "Hearing",
    "Keeper",
    "Note",
    "Plan",
    "Proposer",
    "Rank",
    "Record",
    "Reproduction",
    "SetAside",
    "Setting",
    "Setup",
    "State",
    "Streams",
    "WrongUnit",
    "agree",
]
