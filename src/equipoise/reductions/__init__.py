"""Reductions: rules that measure a proposal and turn its readings into an outcome."""

from typing import TYPE_CHECKING

from equipoise._lazy import lazily

if TYPE_CHECKING:
    from equipoise.reductions.baselines import Baseline, RunningMean, Zero
    from equipoise.reductions.centered import Centered
    from equipoise.reductions.direct import Direct
    from equipoise.reductions.forecasters import BestForecaster, ExponentialAverage, LastOffset, MinusLast, Trend
    from equipoise.reductions.one_point import OnePoint
    from equipoise.reductions.reduction import Reduction
    from equipoise.reductions.two_point import TwoPoint
else:
    __getattr__ = lazily(__name__)

__all__ = [
    "Baseline",
    "BestForecaster",
    "Centered",
    "Direct",
    "ExponentialAverage",
    "LastOffset",
    "MinusLast",
    "OnePoint",
    "Reduction",
    "RunningMean",
    "Trend",
    "TwoPoint",
    "Zero",
]
