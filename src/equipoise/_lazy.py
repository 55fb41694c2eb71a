"""Packages that load their modules at first use."""

import ast
import linecache
import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any


def lazily(package: str) -> Callable[[str], Any]:
    """Return the `__getattr__` (PEP 562) of a package: it imports a name at its first use.

    The package lists its imports once, under `if TYPE_CHECKING:`, and calls this function in the `else`.

    Args:
        package: The name of the package.

    Example:
        >>> find = lazily("equipoise.policies")
        >>> find("IDS").__module__
        'equipoise.policies.ids'
    """
    homes: dict[str, str] = {}

    def find(name: str) -> Any:
        door = sys.modules[package]
        if not homes:
            homes.update(_imported("".join(linecache.getlines(door.__file__ or "", vars(door)))))
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(homes[name]), name)
        setattr(door, name, value)
        return value

    return find


def _imported(source: str) -> dict[str, str]:
    """Return the module of each name that a package imports for type checkers."""
    blocks = [node for node in ast.parse(source).body if isinstance(node, ast.If)]
    imports = [node for block in blocks for node in block.body if isinstance(node, ast.ImportFrom)]
    return {alias.name: node.module or "" for node in imports for alias in node.names}
