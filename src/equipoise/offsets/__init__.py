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
    from equipoise.offsets.accounts import accounting as accounting
    from equipoise.offsets.accounts import accounts_for as accounts_for
    from equipoise.offsets.accounts import accounts_of as accounts_of
    from equipoise.offsets.circumstances import NOTHING_TOLD as NOTHING_TOLD
    from equipoise.offsets.naming import SLOT as SLOT
    from equipoise.offsets.naming import block_of as block_of
    from equipoise.offsets.naming import seed_label as seed_label
    from equipoise.offsets.offset import LEVEL_VARIANCE as LEVEL_VARIANCE
    from equipoise.offsets.terms import Disturbance as Disturbance
    from equipoise.offsets.terms import blip_covariance as blip_covariance
    from equipoise.offsets.terms import jump_covariance as jump_covariance
else:
    __getattr__ = lazily(__name__)
