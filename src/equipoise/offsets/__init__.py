"""Offsets: assumptions about the bias, which decide what a reading teaches. A new one needs a file and a line here."""

from typing import TYPE_CHECKING

from equipoise._lazy import lazily

if TYPE_CHECKING:  # public
    from equipoise.offsets.accounts import Accounted as Accounted
    from equipoise.offsets.accounts import Accounts as Accounts
    from equipoise.offsets.accounts import Covariate as Covariate
    from equipoise.offsets.accounts import accounted as accounted
    from equipoise.offsets.accounts import unaccounted as unaccounted
    from equipoise.offsets.blocks import Blocks as Blocks
    from equipoise.offsets.blocks import Steady as Steady
    from equipoise.offsets.circumstances import LAST_READING as LAST_READING
    from equipoise.offsets.circumstances import Circumstances as Circumstances
    from equipoise.offsets.moments import Moments as Moments
    from equipoise.offsets.offset import Arbitrary as Arbitrary
    from equipoise.offsets.offset import Constant as Constant
    from equipoise.offsets.offset import Law as Law
    from equipoise.offsets.offset import Offset as Offset
    from equipoise.offsets.terms import Hyperparameter as Hyperparameter
    from equipoise.offsets.terms import OffsetModel as OffsetModel
    from equipoise.offsets.terms import Prepared as Prepared
    from equipoise.offsets.tracked import Tracked as Tracked

if TYPE_CHECKING:  # for the other packages of the library
    from equipoise.offsets.accounts import accounting, accounts_for, accounts_of
    from equipoise.offsets.circumstances import NOTHING_TOLD
    from equipoise.offsets.naming import SLOT, block_of, seed_label
    from equipoise.offsets.offset import LEVEL_VARIANCE
    from equipoise.offsets.terms import Disturbance, blip_covariance, jump_covariance
else:
    __getattr__ = lazily(__name__)
