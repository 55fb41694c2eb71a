"""Rules, the elements of the suite: a rule is a function that fails with an explanation if a part breaks it."""

import sys
import warnings
from collections.abc import Callable, Collection, Iterable, Sequence
from inspect import isfunction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from equipoise._typing import FloatArray

Rule = Callable[[Any], None]
"""A function that raises if a part breaks the rule; its docstring is the rule in one sentence."""


def obeys(part: object, rules: Sequence[Rule], without: Collection[str] = ()) -> None:
    """Check a part against rules, one after the other; a numerical warning breaks a rule too.

    Raises:
        AssertionError: The part breaks a rule; the message names the part, the rule and the finding.

    Example:
        >>> def is_short(part):
        ...     '''Its text is short.'''
        ...     require(len(part) < 4, f"it has {len(part)} letters")
        >>> obeys("long text", [is_short])
        Traceback (most recent call last):
        AssertionError: 'long text' breaks `is_short`: Its text is short. Found: it has 9 letters
    """
    names = [rule.__name__ for rule in rules]
    if unknown := sorted(set(without) - set(names)):
        raise ValueError(f"`without` must name some of {', '.join(names)}, got {', '.join(unknown)}")
    for rule in rules:
        if rule.__name__ not in without:
            _hold(part, rule)


def rules_of(module: str, *shared: Rule) -> tuple[Rule, ...]:
    """Return the rules that a module defines, in order, followed by the shared ones.

    Each public function of the module is a rule, except the check itself.
    """
    functions = [each for each in vars(sys.modules[module]).values() if isfunction(each) and each.__module__ == module]
    return (*(each for each in functions if not each.__name__.startswith(("_", "check_"))), *shared)


def require(condition: object, found: str) -> None:
    """Fail with the finding, unless the condition holds.

    Example:
        >>> require(1 + 1 == 2, "arithmetic is broken")
    """
    if not condition:
        raise AssertionError(found)


def agree(found: ArrayLike, expected: ArrayLike, what: str, tolerance: float = 1e-9, rounding: float = 0.0) -> None:
    """Fail unless two arrays are equal, up to a tolerance relative to the largest entry expected.

    Args:
        found: An array.
        expected: The expected value.
        what: The name of the entries, for the message.
        tolerance: The tolerance relative to the largest expected entry, or to one.
        rounding: The rounding error of the expected entries themselves.

    Example:
        >>> agree([1.0, 2.0], [1.0, 2.5], "the prices")
        Traceback (most recent call last):
        AssertionError: the prices must be 2.5, got 2.0 at (1,)
    """
    a, b = np.asarray(found, dtype=np.float64), np.asarray(expected, dtype=np.float64)
    require(a.shape == b.shape, f"{what} must have shape {b.shape}, got {a.shape}")
    if not a.size:
        return
    wrong = ~(np.abs(a - b) <= tolerance * max(1.0, float(np.abs(b).max())) + rounding)  # so that a nan is wrong
    if wrong.any():
        at = tuple(int(i) for i in np.argwhere(wrong)[0])
        raise AssertionError(f"{what} must be {b[at]}, got {a[at]} at {at}")


def z_scores(samples: FloatArray) -> FloatArray:
    """Return how many standard errors the mean of each column is from zero; 0 for a column of zeros.

    Args:
        samples: Shape (n, k), one draw a row; or martingale differences.

    Example:
        >>> z_scores(np.array([[1.0, 0.0], [1.0, 0.0], [1.0, 0.0], [1.0, 0.0]]))
        array([2., 0.])
    """
    size = np.sqrt((samples**2).sum(axis=0))
    scores: FloatArray = np.divide(samples.sum(axis=0), size, out=np.zeros(samples.shape[1]), where=size > 0)
    return scores


def has(part: object, names: Iterable[str]) -> None:
    """Fail unless a part has all these attributes.

    Example:
        >>> has([], ["append", "prepend"])
        Traceback (most recent call last):
        AssertionError: it lacks prepend
    """
    missing = [name for name in names if not hasattr(part, name)]
    require(not missing, f"it lacks {', '.join(missing)}")


def _hold(part: object, rule: Rule) -> None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", RuntimeWarning)  # NumPy's warnings about 0 / 0 and the like
            rule(part)
    except Exception as error:
        found = str(error) if isinstance(error, AssertionError) else f"{type(error).__name__}: {error}"
        meant = " ".join((rule.__doc__ or "").partition("\n\n")[0].split())
        raise AssertionError(f"{_shown(part)} breaks `{rule.__name__}`: {meant} Found: {found}") from error


def _shown(part: object) -> str:
    try:
        return repr(part)
    except Exception:  # `is_described` reports a broken representation
        return f"a {type(part).__name__}"
