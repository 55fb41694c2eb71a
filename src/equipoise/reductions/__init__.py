"""Reductions: rules that measure a proposal and turn its readings into an outcome."""

from typing import TYPE_CHECKING

from equipoise._lazy import lazily

if TYPE_CHECKING:  # public
    from equipoise.reductions.baselines import Baseline as Baseline
    from equipoise.reductions.baselines import RunningMean as RunningMean
    from equipoise.reductions.baselines import Zero as Zero
    from equipoise.reductions.centered import Centered as Centered
    from equipoise.reductions.direct import Direct as Direct
    from equipoise.reductions.forecasters import BestForecaster as BestForecaster
    from equipoise.reductions.forecasters import ExponentialAverage as ExponentialAverage
    from equipoise.reductions.forecasters import LastOffset as LastOffset
    from equipoise.reductions.forecasters import MinusLast as MinusLast
    from equipoise.reductions.forecasters import Trend as Trend
    from equipoise.reductions.one_point import OnePoint as OnePoint
    from equipoise.reductions.reduction import Reduction as Reduction
    from equipoise.reductions.two_point import TwoPoint as TwoPoint
else:
    __getattr__ = lazily(__name__)
