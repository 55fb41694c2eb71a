"""Offsets: what is assumed of the bias, and hence what a reading teaches. To add one: one file, one line here."""

from equipoise.offsets.blocks import Blocks
from equipoise.offsets.offset import Arbitrary, Constant, Law, Offset
from equipoise.offsets.terms import Hyperparameter, Moments, OffsetModel, Prepared
from equipoise.offsets.tracked import Tracked

__all__ = [
    "Arbitrary",
    "Blocks",
    "Constant",
    "Hyperparameter",
    "Law",
    "Moments",
    "Offset",
    "OffsetModel",
    "Prepared",
    "Tracked",
]
