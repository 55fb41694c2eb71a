"""The lab: simulated instruments, experiments on them, and many learners at once. A real study does not need it."""

from importlib import import_module
from types import ModuleType

ROOMS = ("board", "environments", "experiments", "fleet")
"""Imported when they are first asked for: an experiment needs joblib, an environment does not."""


def __getattr__(name: str) -> ModuleType:
    """Import a room when it is first asked for."""
    if name in ROOMS:
        return import_module(f"equipoise.lab.{name}")
    raise AttributeError(f"module 'equipoise.lab' has no attribute {name!r}")
