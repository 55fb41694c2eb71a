"""A study: its state, what it proposes next, what it claims, its random streams, and the defaults."""

from equipoise.study.alerts import (
    BoundMissed,
    DeadSensor,
    DropExceeded,
    DuelGivenUp,
    Estranged,
    GapUnknown,
    SetAside,
    WrongUnit,
)
from equipoise.study.defaults import default_explorer as default_explorer
from equipoise.study.defaults import default_offset as default_offset
from equipoise.study.defaults import default_policy as default_policy
from equipoise.study.defaults import default_posterior as default_posterior
from equipoise.study.exploring import Explorer as Explorer
from equipoise.study.plans import Plan
from equipoise.study.proposing import Proposer
from equipoise.study.public import Study
from equipoise.study.recommender import Recommender
from equipoise.study.requests import SLOT as SLOT
from equipoise.study.requests import Addition as Addition
from equipoise.study.requests import GivenAnswer as GivenAnswer
from equipoise.study.requests import seed_label as seed_label
from equipoise.study.session import Session
from equipoise.study.session import number_of as number_of
from equipoise.study.setup import PARTS as PARTS
from equipoise.study.setup import Part as Part
from equipoise.study.setup import Setup
from equipoise.study.setup import arguments as arguments
from equipoise.study.setup import way as way
from equipoise.study.state import State
from equipoise.study.tables import Table as Table
from equipoise.study.tables import as_csv as as_csv
from equipoise.study.tables import cell as cell
from equipoise.study.tables import columns as columns
from equipoise.study.tables import timed as timed
from equipoise.study.views import PLACES as PLACES
from equipoise.study.views import Note, Record, Setting
from equipoise.study.views import last_set as last_set
from equipoise.study.views import unit_of as unit_of

__all__ = [
    "BoundMissed",
    "DeadSensor",
    "DropExceeded",
    "DuelGivenUp",
    "Estranged",
    "GapUnknown",
    "Note",
    "Plan",
    "Proposer",
    "Recommender",
    "Record",
    "Session",
    "SetAside",
    "Setting",
    "Setup",
    "State",
    "Study",
    "WrongUnit",
]
