"""Kernels: the similarity of f at two points."""

from typing import TYPE_CHECKING

from equipoise._lazy import lazily

if TYPE_CHECKING:  # public
    from equipoise.kernels.kernel import Kernel as Kernel
    from equipoise.kernels.kernel import Linear as Linear
    from equipoise.kernels.kernel import Product as Product
    from equipoise.kernels.kernel import Scaled as Scaled
    from equipoise.kernels.kernel import Sum as Sum
    from equipoise.kernels.levels import Levels as Levels
    from equipoise.kernels.stationary import RBF as RBF
    from equipoise.kernels.stationary import Matern32 as Matern32
    from equipoise.kernels.stationary import Matern52 as Matern52
    from equipoise.kernels.stationary import Stationary as Stationary
else:
    __getattr__ = lazily(__name__)
