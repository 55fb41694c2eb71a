"""The claims of a study: recommendations, fronts, plans to check them, and earlier claims."""

from typing import TYPE_CHECKING

from equipoise._lazy import lazily

if TYPE_CHECKING:
    from equipoise.study.claiming.compromises import compromise as compromise
    from equipoise.study.claiming.compromises import front_of as front_of
    from equipoise.study.claiming.hindsight import coins as coins
    from equipoise.study.claiming.hindsight import history as history
    from equipoise.study.claiming.planning import auditing as auditing
    from equipoise.study.claiming.planning import verifying as verifying
    from equipoise.study.claiming.recommender import Recommender as Recommender
    from equipoise.study.claiming.recommender import compare as compare
else:
    __getattr__ = lazily(__name__)
