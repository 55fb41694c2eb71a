"""A study: its state, its next question, its claims, its edits and the defaults."""

from typing import TYPE_CHECKING

from equipoise._lazy import lazily

if TYPE_CHECKING:
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
    from equipoise.study.amending import Addition as Addition
    from equipoise.study.amending import add as add
    from equipoise.study.amending import begun as begun
    from equipoise.study.amending import corrected as corrected
    from equipoise.study.amending import retracted as retracted
    from equipoise.study.amending import undo as undo
    from equipoise.study.asking import Proposer
    from equipoise.study.asking import ask_pair as ask_pair
    from equipoise.study.changes import absurd as absurd
    from equipoise.study.claiming import Recommender
    from equipoise.study.claiming import auditing as auditing
    from equipoise.study.claiming import compare as compare
    from equipoise.study.claiming import front_of as front_of
    from equipoise.study.claiming import verifying as verifying
    from equipoise.study.defaults import default_explorer as default_explorer
    from equipoise.study.defaults import default_offset as default_offset
    from equipoise.study.defaults import default_policy as default_policy
    from equipoise.study.defaults import default_posterior as default_posterior
    from equipoise.study.exploring import Explorer as Explorer
    from equipoise.study.moving import way as way
    from equipoise.study.part import Part as Part
    from equipoise.study.plans import Plan
    from equipoise.study.plans import begin as begin
    from equipoise.study.plans import cancel as cancel
    from equipoise.study.public import Study
    from equipoise.study.requests import GivenAnswer as GivenAnswer
    from equipoise.study.session import Session
    from equipoise.study.session import number_of as number_of
    from equipoise.study.setup import PARTS as PARTS
    from equipoise.study.setup import Setup
    from equipoise.study.setup import arguments as arguments
    from equipoise.study.state import State
    from equipoise.study.tables import PLACES as PLACES
    from equipoise.study.tables import Note, Record, Setting
    from equipoise.study.tables import Table as Table
    from equipoise.study.tables import as_csv as as_csv
    from equipoise.study.tables import cell as cell
    from equipoise.study.tables import columns as columns
    from equipoise.study.tables import last_set as last_set
    from equipoise.study.tables import plain as plain
    from equipoise.study.tables import records as records
    from equipoise.study.tables import timed as timed
    from equipoise.study.tables import unit_of as unit_of
else:
    __getattr__ = lazily(__name__)

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
