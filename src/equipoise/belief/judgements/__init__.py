"""Learning from judgements along with readings, and the fit stored in a log."""

from typing import TYPE_CHECKING

from equipoise._lazy import lazily

if TYPE_CHECKING:
    from equipoise.belief.judgements.fit import JudgeFit
    from equipoise.belief.judgements.fitting import ANSWERED_VARIANCE, JudgedKernel
    from equipoise.belief.judgements.learning import Judged, Mixed, pair_variance
    from equipoise.belief.judgements.pairing import Pairing
else:
    __getattr__ = lazily(__name__)

__all__ = [
    "ANSWERED_VARIANCE",
    "JudgeFit",
    "Judged",
    "JudgedKernel",
    "Mixed",
    "Pairing",
    "pair_variance",
]
