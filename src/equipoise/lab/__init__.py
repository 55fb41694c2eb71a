"""The lab: simulated instruments, experiments on them, and simulations of many learners. Real studies need none."""

from importlib import import_module
from types import ModuleType

ROOMS = ("board", "environments", "experiments", "fleet")
"""Subpackages, imported on first access: an experiment needs joblib, an environment does not."""


def __getattr__(name: str) -> ModuleType:
    """Import a subpackage on first access."""
    if name in ROOMS:
        return import_module(f"equipoise.lab.{name}")
    raise AttributeError(f"module 'equipoise.lab' has no attribute {name!r}")
