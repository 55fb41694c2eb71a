"""A study: its state, what it proposes next, what it claims, its random streams, and the defaults."""

from equipoise.study.defaults import default_explorer as default_explorer
from equipoise.study.defaults import default_policy as default_policy
from equipoise.study.defaults import default_posterior as default_posterior
from equipoise.study.exploring import Explorer as Explorer
from equipoise.study.hearing import Hearing
from equipoise.study.keeper import Keeper
from equipoise.study.keeper import number_of as number_of
from equipoise.study.ledger import DropExceeded, DuelGivenUp, Estranged, GapUnknown
from equipoise.study.outliers import DeadSensor, SetAside
from equipoise.study.parsing import Table as Table
from equipoise.study.part import Part as Part
from equipoise.study.plans import Plan
from equipoise.study.proposing import Proposer
from equipoise.study.public import Study
from equipoise.study.recommender import Recommender, WrongUnit
from equipoise.study.reproducing import Reproduction, agree
from equipoise.study.rules import PLACES as PLACES
from equipoise.study.rules import Note, Record, Setting
from equipoise.study.rules import last_set as last_set
from equipoise.study.rules import unit_of as unit_of
from equipoise.study.setup import PARTS as PARTS
from equipoise.study.setup import Setup
from equipoise.study.setup import arguments as arguments
from equipoise.study.setup import started as started
from equipoise.study.state import State
from equipoise.study.streams import COINS as COINS
from equipoise.study.streams import PROPOSE as PROPOSE
from equipoise.study.streams import RECOMMEND as RECOMMEND
from equipoise.study.streams import Streams
from equipoise.study.tables import as_csv as as_csv
from equipoise.study.tables import cell as cell
from equipoise.study.tables import columns as columns
from equipoise.study.tables import timed as timed

__all__ = [
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
    "Recommender",
    "Record",
    "Reproduction",
    "SetAside",
    "Setting",
    "Setup",
    "State",
    "Streams",
    "Study",
    "WrongUnit",
    "agree",
]
