"""Learning from judgements along with readings, and the fit stored in a log."""

from typing import TYPE_CHECKING

from equipoise._lazy import lazily

if TYPE_CHECKING:  # public
    from equipoise.belief.judgements.fit import JudgeFit as JudgeFit
    from equipoise.belief.judgements.fitting import ANSWERED_VARIANCE as ANSWERED_VARIANCE
    from equipoise.belief.judgements.fitting import JudgedKernel as JudgedKernel
    from equipoise.belief.judgements.learning import Judged as Judged
    from equipoise.belief.judgements.learning import Mixed as Mixed
    from equipoise.belief.judgements.learning import pair_variance as pair_variance
    from equipoise.belief.judgements.pairing import Pairing as Pairing
else:
    __getattr__ = lazily(__name__)
