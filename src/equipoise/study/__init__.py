"""A study: its state, its next question, its claims, its edits and the defaults."""

from typing import TYPE_CHECKING

from equipoise._lazy import lazily

if TYPE_CHECKING:  # public
    from equipoise.study.alerts import BoundMissed as BoundMissed
    from equipoise.study.alerts import DeadSensor as DeadSensor
    from equipoise.study.alerts import DropExceeded as DropExceeded
    from equipoise.study.alerts import DuelGivenUp as DuelGivenUp
    from equipoise.study.alerts import Estranged as Estranged
    from equipoise.study.alerts import GapUnknown as GapUnknown
    from equipoise.study.alerts import SetAside as SetAside
    from equipoise.study.alerts import WrongUnit as WrongUnit
    from equipoise.study.asking import Proposer as Proposer
    from equipoise.study.claiming import Recommender as Recommender
    from equipoise.study.plans import Plan as Plan
    from equipoise.study.public import Study as Study
    from equipoise.study.session import Session as Session
    from equipoise.study.setup import Setup as Setup
    from equipoise.study.state import State as State
    from equipoise.study.tables import Note as Note
    from equipoise.study.tables import Record as Record
    from equipoise.study.tables import Setting as Setting

if TYPE_CHECKING:  # for the other packages of the library
    from equipoise.study.amending import Addition, add, begun, corrected, retracted, undo
    from equipoise.study.asking import ask_pair
    from equipoise.study.changes import absurd
    from equipoise.study.claiming import auditing, compare, front_of, verifying
    from equipoise.study.defaults import default_explorer, default_offset, default_policy, default_posterior
    from equipoise.study.exploring import Explorer
    from equipoise.study.moving import way
    from equipoise.study.part import Part
    from equipoise.study.plans import begin, cancel
    from equipoise.study.requests import GivenAnswer
    from equipoise.study.session import number_of
    from equipoise.study.setup import PARTS, arguments
    from equipoise.study.tables import PLACES, Table, as_csv, cell, columns, last_set, plain, records, timed, unit_of
else:
    __getattr__ = lazily(__name__)
