"""Offsets: what is assumed of the bias, and hence what a reading teaches. To add one: one file, one line here."""

from equipoise.offsets.accounted import Accounted, Accounts, Covariate, accounted, unaccounted
from equipoise.offsets.blocks import Blocks
from equipoise.offsets.moments import LAST_READING, Circumstances, Moments
from equipoise.offsets.offset import Arbitrary, Constant, Law, Offset
from equipoise.offsets.terms import Hyperparameter, OffsetModel, Prepared
from equipoise.offsets.tracked import Tracked

__all__ = [
    "LAST_READING",
    "Accounted",
    "Accounts",
    "Arbitrary",
    "Blocks",
    "Circumstances",
    "Constant",
    "Covariate",
    "Hyperparameter",
    "Law",
    "Moments",
    "Offset",
    "OffsetModel",
    "Prepared",
    "Tracked",
    "accounted",
    "unaccounted",
]
