"""Packages that load their modules at first use."""

import ast
import linecache
import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any


def lazily(package: str) -> Callable[[str], Any]:
    """Return the `__getattr__` (PEP 562) of a package: it imports a name at its first use.

    The package lists its imports once, under `if TYPE_CHECKING:`, and calls this function in the `else`. If it does not
    define `__all__`, its public names are those of the first such block, each imported as itself for the type checkers
    of users. The names of a second block are for the other packages of the library.

    Args:
        package: The name of the package.

    Example:
        >>> find = lazily("equipoise.policies")
        >>> find("IDS").__module__
        'equipoise.policies.ids'
    """
    blocks: list[dict[str, str]] = []

    def find(name: str) -> Any:
        door = sys.modules[package]
        if not blocks:
            blocks.extend(_imported("".join(linecache.getlines(door.__file__ or "", vars(door)))))
        home = next((homes[name] for homes in blocks if name in homes), None)
        if home is None and name != "__all__":
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = sorted(blocks[0]) if home is None else getattr(import_module(home), name)
        setattr(door, name, value)
        return value

    return find


def _imported(source: str) -> list[dict[str, str]]:
    """Return the module of each name that a package imports for type checkers, for each block of such imports."""
    blocks = [node.body for node in ast.parse(source).body if isinstance(node, ast.If)]
    imports = [[node for node in block if isinstance(node, ast.ImportFrom)] for block in blocks]
    return [{alias.name: node.module or "" for node in block for alias in node.names} for block in imports]
