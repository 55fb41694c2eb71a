"""Offsets: assumptions about the bias, which decide what a reading teaches. A new one needs a file and a line here."""

from typing import TYPE_CHECKING

from equipoise._lazy import lazily

if TYPE_CHECKING:
    from equipoise.offsets.accounts import Accounted, Accounts, Covariate, accounted, unaccounted
    from equipoise.offsets.accounts import accounting as accounting
    from equipoise.offsets.accounts import accounts_for as accounts_for
    from equipoise.offsets.accounts import accounts_of as accounts_of
    from equipoise.offsets.blocks import Blocks, Steady
    from equipoise.offsets.circumstances import LAST_READING, Circumstances
    from equipoise.offsets.circumstances import NOTHING_TOLD as NOTHING_TOLD
    from equipoise.offsets.moments import Moments
    from equipoise.offsets.naming import SLOT as SLOT
    from equipoise.offsets.naming import block_of as block_of
    from equipoise.offsets.naming import seed_label as seed_label
    from equipoise.offsets.offset import LEVEL_VARIANCE as LEVEL_VARIANCE
    from equipoise.offsets.offset import Arbitrary, Constant, Law, Offset
    from equipoise.offsets.terms import Disturbance as Disturbance
    from equipoise.offsets.terms import Hyperparameter, OffsetModel, Prepared
    from equipoise.offsets.terms import blip_covariance as blip_covariance
    from equipoise.offsets.terms import jump_covariance as jump_covariance
    from equipoise.offsets.tracked import Tracked
else:
    __getattr__ = lazily(__name__)

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
    "Steady",
    "Tracked",
    "accounted",
    "unaccounted",
]
