"""Kernels: the similarity of f at two points."""

from typing import TYPE_CHECKING

from equipoise._lazy import lazily

if TYPE_CHECKING:
    from equipoise.kernels.kernel import Kernel, Linear, Product, Scaled, Sum
    from equipoise.kernels.levels import Levels
    from equipoise.kernels.stationary import RBF, Matern32, Matern52, Stationary
else:
    __getattr__ = lazily(__name__)

__all__ = ["RBF", "Kernel", "Levels", "Linear", "Matern32", "Matern52", "Product", "Scaled", "Stationary", "Sum"]
