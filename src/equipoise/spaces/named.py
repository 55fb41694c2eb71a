"""Spaces of named parameters."""

import keyword
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from html import escape
from itertools import accumulate, pairwise
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from equipoise import _linalg
from equipoise import _validation as check
from equipoise._typing import FloatArray
from equipoise.spaces.box import Box
from equipoise.spaces.candidates import spread, subsets
from equipoise.spaces.columns import Column
from equipoise.spaces.constraints import Constraint, checked, described, given_again, nothing_valid, rule, satisfied
from equipoise.spaces.context import Context, Pinned
from equipoise.spaces.domain import Domain
from equipoise.spaces.finite import Finite
from equipoise.spaces.numbers import Float, Int
from equipoise.spaces.options import Choice, Fixed
from equipoise.spaces.parameters import Parameter, as_parameter, parameter_from_dict

MOST_SETTINGS = 2**14
"""A space of no more combinations than this is searched through setting by setting."""


class Space:
    """A space of named parameters, whose points are dictionaries.

    If every parameter has steps or options, and there are at most as many settings as candidates, it is a finite set:
    `points` lists them all.

    Args:
        parameters: Parameters by name, for names that are not Python identifiers or belong to another argument.
        candidates: How many quasi-random points an `ask` chooses from, rounded up to a power of two.
        constraint: Which points may be asked: a text, such as "q1 + q2 <= 1", a list of texts, or a function of a
            point, a dictionary. A log keeps texts, but not functions. All points by default.
        **named_parameters: Further parameters by name: `Float`, `Int` or `Choice`; or `Context`, which you cannot
            choose. A plain value is a constant: not tuned, but part of every point.

    Example:
        >>> import equipoise as eq
        >>> space = eq.Space(q1=eq.Float(-2, 2), lens=eq.Choice(["in", "out"]), shots=eq.Int(1, 5), mode="fast")
        >>> point = space.encode({"q1": 0.0, "lens": "out", "shots": 2})
        >>> point.round(3)
        array([0.5  , 0.   , 0.707, 0.25 ])
        >>> space.decode(point)
        {'q1': 0.0, 'lens': 'out', 'shots': 2, 'mode': 'fast'}
        >>> eq.Space({"pump power": eq.Float(1, 100)}, gain=eq.Float(0, 1), constraint="gain < 0.5")
        Space({'pump power': Float(1.0, 100.0), 'gain': Float(0.0, 1.0)}, constraint='gain < 0.5')
    """

    def __init__(
        self,
        parameters: Mapping[str, Any] | None = None,
        /,
        *,
        candidates: int = 512,
        constraint: Constraint | None = None,
        **named_parameters: Any,
    ) -> None:
        _refuse_parameters(candidates=candidates, constraint=constraint)
        self.parameters = _collect(parameters, named_parameters)
        self.constraint = checked(constraint)
        self._log2_candidates = (check.count("candidates", candidates) - 1).bit_length()
        ends = list(accumulate((_values(p).width for p in self.parameters.values()), initial=0))
        placed = zip(self.parameters.items(), pairwise(ends), strict=True)
        self._layout = [(n, p.values if isinstance(p, Context) else p, slice(*e)) for (n, p), e in placed]
        self._tuned = [(p, columns) for _, p, columns in self._layout if not isinstance(p, Fixed)]
        self._varied = [i for i, (p, _) in enumerate(self._tuned) if not isinstance(p, Pinned)]
        self.dimension = ends[-1]
        self.free = np.array([p.free for p, _ in self._tuned for _ in range(p.width)])
        self.groups = np.repeat(np.arange(len(self._tuned)), [p.width for p, _ in self._tuned])
        self.extent = np.ones(self.dimension)
        grids = [_values(p).grid for p, _ in self._tuned]
        self.levels = tuple(0 if grid is None else grid.count for grid in grids)
        self._rule = rule(self.constraint, {name: Column(_values(p), columns) for name, p, columns in self._layout})
        self.points = self._listed(2**self._log2_candidates)

    def __repr__(self) -> str:
        words = (n.isidentifier() and not keyword.iskeyword(n) and n not in _ARGUMENTS for n in self.parameters)
        parts = [f"{n}={p!r}" for n, p in self.parameters.items()] if all(words) else [repr(self.parameters)]
        if self._log2_candidates != 9:
            parts.append(f"candidates={2**self._log2_candidates}")
        if self.constraint is not None:
            parts.append(f"constraint={self.constraint!r}")
        return f"Space({', '.join(parts)})"

    def _repr_html_(self) -> str:
        cells = [(escape(name), escape(repr(parameter))) for name, parameter in self.parameters.items()]
        table = "".join(f"<tr><th>{name}</th><td>{text}</td></tr>" for name, text in cells)
        texts = self.constraint if isinstance(self.constraint, tuple) else (self.constraint,)
        rules = "".join(f"<p>Constraint: {escape(str(text))}</p>" for text in texts if text is not None)
        return f"<table>{table}</table>{rules}"

    @property
    def contexts(self) -> tuple[str, ...]:
        """The names of the contexts."""
        return tuple(name for name, p in self.parameters.items() if isinstance(p, Context))

    @cached_property
    def settings(self) -> FloatArray | None:
        """All valid points, shape (m, d), if they are not listed and some thousands at most.

        In a part of a space a function as constraint would be asked about each of them again and again.
        """
        again = callable(self.constraint) and len(self._varied) < len(self._tuned)
        return None if again or self.points is not None else self._listed(MOST_SETTINGS)

    def at(self, context: Mapping[str, Any] | None) -> "Space":
        """Return the part of the space at a context: a space of as many coordinates, with its contexts pinned.

        Args:
            context: The value of each `Context` by name; `None` if there is none, which returns the space itself.
        """
        if not self.contexts:
            check.no_context(context)
            return self
        if not isinstance(context, Mapping) or set(context) != set(self.contexts):
            usual = {name: p.decode([0.5] * p.width) for name, p, _ in self._layout if name in self.contexts}
            raise ValueError(f"`context` must say {' and '.join(usual)}, such as context={usual}, got {context!r}")
        given = {name: p for name, p, _ in self._layout if name in context}
        return self._pinned({name: p.encode(f"context[{name!r}]", context[name]) for name, p in given.items()})

    def through(self, point: FloatArray) -> "Space":
        """Return the part of the space at the context of an encoded point."""
        return self._pinned({n: point[columns].tolist() for n, _, columns in self._layout if n in self.contexts})

    def candidates(self, rng: Generator) -> FloatArray:
        """Return points made from scrambled Sobol' points, one coordinate of these for each parameter."""
        if self.points is not None:
            return self.points
        return spread(len(self._varied), self._log2_candidates, rng, lambda u: self._kept(self._placed(u)))

    def near(self, points: FloatArray, scale: FloatArray, n: int, rng: Generator) -> FloatArray:
        """Return points some of whose parameters differ from a given one.

        A Float differs by about `scale`, a parameter with steps by at least one, and a Choice is another option. Around
        the first point, each other option of a Choice and one step up and down are also tried alone.
        """
        if self.points is not None or not len(points):
            return np.empty((0, self.dimension))
        start = np.repeat(points, n, axis=0)
        chosen = np.zeros((len(start), len(self._tuned)), dtype=np.bool_)
        chosen[:, self._varied] = subsets(len(start), len(self._varied), rng)
        step = rng.standard_normal(start.shape) * scale * (chosen[:, self.groups] & self.free)
        moved = np.clip(start + step, 0.0, 1.0)
        for i, grid, columns in self._grids():
            rows = chosen[:, i]
            moved[rows, columns] = grid.move(moved[rows, columns], scale[columns], rng)
        return self._kept(np.concatenate([moved, *self._sweep(points[0])]))

    def valid(self, points: FloatArray) -> NDArray[np.bool_]:
        """Return which encoded points satisfy the constraint and, in a part of the space, are at its context."""
        result = satisfied(self._rule, self.decode, points)
        for p, columns in self._tuned:
            if isinstance(p, Pinned):
                result &= p.holds(points[:, columns])
        return result

    def snap(self, points: FloatArray) -> FloatArray:
        """Return the nearest encodings: numbers rounded or clipped, the option of the largest coordinate.

        In a part of the space, that is the same setting at its context.
        """
        return np.concatenate([p.snap(points[:, columns]) for p, columns in self._tuned], axis=1)

    def steps(self, given: Any) -> FloatArray:
        """Return the longest steps, by name, in units of the ranges; infinite for parameters that are not named."""
        try:
            named = dict(given)
        except (TypeError, ValueError):
            raise TypeError(f"`max_step` must be a dict of steps by name, got {given!r}") from None
        result = np.full(self.dimension, np.inf)
        for name, step in named.items():
            parameter, columns = self._number(name)
            result[columns] = check.positive(f"max_step[{name!r}]", step) / (parameter.high - parameter.low)
        return result

    def encode(self, x: Any) -> FloatArray:
        """Return x, a dictionary with the name of every parameter; constants may be left out."""
        if not isinstance(x, Mapping):
            raise TypeError(f"`x` must be a dict with the names {list(self.parameters)}, got {x!r}")
        needed = {name for name, p, _ in self._layout if p.given is None}
        if not needed <= set(x) <= set(self.parameters):
            raise ValueError(f"`x` must have the names {list(self.parameters)}, got {list(x)}")
        encoded = [p.encode(f"x[{name!r}]", x[name]) if name in x else p.given for name, p, _ in self._layout]
        return check.frozen(np.array([u for coordinates in encoded for u in coordinates or ()]))

    def decode(self, point: FloatArray) -> dict[str, Any]:
        """Return a new dictionary, in the order in which the parameters were given."""
        coordinates = point.tolist()
        return {name: p.decode(coordinates[columns]) for name, p, columns in self._layout}

    def ordered(self, names: Sequence[str]) -> "Space":
        """Return the space with its parameters in another order, which is that of the coordinates.

        Args:
            names: The names of all parameters.
        """
        if list(names) == list(self.parameters):
            return self
        again = {name: self.parameters[name] for name in names}
        return Space(again, candidates=2**self._log2_candidates, constraint=self.constraint)

    def widened(self, name: str, low: float, high: float) -> "Space":
        """Return the space with a wider range of a number, or of a context that is one; a range never shrinks.

        Example:
            >>> import equipoise as eq
            >>> eq.Space(q1=eq.Float(-2, 2), n=eq.Int(1, 5)).widened("q1", -4, 2)
            Space(q1=Float(-4.0, 2.0), n=Int(1, 5))
        """
        was = self.parameters.get(name)
        number = was.values if isinstance(was, Context) else was
        if not isinstance(number, Float | Int):
            raise ValueError(f"`name` must be that of a number of the space, got {name!r}")
        ends: dict[str, Any] = {"low": min(low, number.low), "high": max(high, number.high)}
        wider = replace(number, **ends)
        if wider == number:
            return self
        wider.encode(name, number.low)  # refused if its steps lie elsewhere
        now = was.ranging(wider) if isinstance(was, Context) and isinstance(wider, Float) else wider
        return Space(self.parameters | {name: now}, candidates=2**self._log2_candidates, constraint=self.constraint)

    def across(self, points: FloatArray, wider: "Space") -> FloatArray:
        """Return encoded points, shape (n, d), as a space with wider ranges encodes them."""
        moved = points.copy()
        for (name, p, columns), (_, q, _) in zip(self._layout, wider._layout, strict=True):
            if p != q:
                moved[:, columns] = [q.encode(name, p.decode(row)) for row in points[:, columns].tolist()]
        return moved

    def to_dict(self) -> dict[str, Any]:
        """Return a description as JSON; a function, and an option of an unusual type, only noted.

        Example:
            >>> import equipoise as eq
            >>> eq.Space(q1=eq.Float(-2, 2)).to_dict()
            {'type': 'space', 'parameters': {'q1': {'type': 'float', 'low': -2.0, 'high': 2.0, 'log': False}}}
        """
        result: dict[str, Any] = {"type": "space", "parameters": {n: p.to_dict() for n, p in self.parameters.items()}}
        if self._log2_candidates != 9:
            result["candidates"] = 2**self._log2_candidates
        return result if self.constraint is None else result | {"constraint": described(self.constraint)}

    @classmethod
    def from_dict(cls, description: Mapping[str, Any], constraint: Constraint | None = None) -> "Space":
        """Return the space from the result of `to_dict`; give a constraint that is a function again."""
        parameters = {name: parameter_from_dict(name, p) for name, p in description["parameters"].items()}
        constraint = given_again(description, constraint)
        return cls(parameters, candidates=description.get("candidates", 512), constraint=constraint)

    def _number(self, name: Any) -> tuple[Float | Int, slice]:
        """Return a parameter whose steps all have one size, and its columns; refuse any other."""
        for known, parameter, columns in self._layout:
            if known == name and name not in self.contexts and isinstance(parameter, Float | Int) and not parameter.log:
                return parameter, columns
        raise ValueError(f"`max_step` must name a Float or an Int that is not logarithmic, got {name!r}")

    def _pinned(self, given: Mapping[str, list[float]]) -> "Space":
        """Return this space with fixed coordinates of its contexts."""
        if not given:
            return self
        contexts = ((name, p) for name, p in self.parameters.items() if isinstance(p, Context))
        pinned = {name: Pinned(p.values, tuple(given[name])) for name, p in contexts}
        return Space(self.parameters | pinned, candidates=2**self._log2_candidates, constraint=self.constraint)

    def _placed(self, u: FloatArray) -> FloatArray:
        """Return points, shape (m, d), from numbers even in [0, 1), one for each parameter that varies."""
        even = dict(zip(self._varied, u.T, strict=True))
        parts = [p.place(u) if isinstance(p, Pinned) else p.spread(even[i]) for i, (p, _) in enumerate(self._tuned)]
        return np.concatenate(parts, axis=1)

    def _grids(self) -> Iterator[tuple[int, Int | Choice, slice]]:
        """Yield the number, the grid and the columns of each parameter that varies by steps."""
        for i in self._varied:
            p, columns = self._tuned[i]
            if not isinstance(p, Pinned) and p.grid is not None:
                yield i, p.grid, columns

    def _kept(self, points: FloatArray) -> FloatArray:
        """Return the valid points; if nothing is continuous, each only once."""
        if not self.free.any():
            points = points[np.sort(_linalg.firsts(points))]
        return points if self.constraint is None else points[self.valid(points)]

    def _sweep(self, point: FloatArray) -> list[FloatArray]:
        """Return the points that differ in one Choice, or by one step of a parameter with steps."""
        result = []
        for _, grid, columns in self._grids():
            others = grid.neighbors(point[columns])
            result.append(np.repeat(point[None], len(others), axis=0))
            result[-1][:, columns] = others
        return result

    def _listed(self, most: int) -> FloatArray | None:
        """Return all valid points, if they are no more than this."""
        grids = [p if isinstance(p, Pinned) else p.grid for p, _ in self._tuned]
        discrete = [grid for grid in grids if grid is not None]
        counts = [grid.count for grid in discrete]
        if len(discrete) < len(self._tuned) or math.prod(counts) > most:
            return None
        which = np.indices(counts, dtype=np.float64).reshape(len(counts), -1)
        points = np.concatenate([grid.place(k) for grid, k in zip(discrete, which, strict=True)], axis=1)
        valid = points[self.valid(points)]
        if not len(valid):
            raise nothing_valid(len(points))
        return check.frozen(valid)


_ARGUMENTS = ("candidates", "constraint")


def _refuse_parameters(**arguments: Any) -> None:
    for name, value in arguments.items():
        if isinstance(value, Parameter):
            raise TypeError(
                f"`{name}` is an argument of Space, got {value!r}: give a parameter of this name as "
                f"Space({{{name!r}: {value!r}}})"
            )


def _collect(parameters: Mapping[str, Any] | None, more: dict[str, Any]) -> dict[str, Parameter]:
    parameters = {} if parameters is None else parameters
    if not isinstance(parameters, Mapping) or not all(isinstance(name, str) for name in parameters):
        raise TypeError(f"`parameters` must be a dict of parameters by name, got {parameters!r}")
    if twice := sorted(set(parameters) & set(more)):
        raise ValueError(f"`parameters` must not repeat names given as arguments, got {twice}")
    result = {name: as_parameter(name, value) for name, value in {**parameters, **more}.items()}
    if all(isinstance(p, (Fixed, Context, Pinned)) for p in result.values()):
        raise ValueError(f"`parameters` must hold a Float, an Int or a Choice, got {result!r}")
    return result


def _values(parameter: Parameter) -> Float | Int | Choice | Fixed:
    """Return a parameter, or the values of a context."""
    return parameter.values if isinstance(parameter, (Context, Pinned)) else parameter


def space_from_dict(description: Mapping[str, Any], constraint: Constraint | None = None) -> Domain:
    """Return a space of any kind from the result of its `to_dict`; give a constraint that is a function again."""
    match kind := description.get("type"):
        case "space":
            return Space.from_dict(description, constraint)
        case "box":
            return Box.from_dict(description, constraint)
        case "finite" if constraint is None:
            return Finite.from_dict(description)
        case "finite":
            raise ValueError(f"`constraint` must be None for a Finite, got {constraint!r}: leave out forbidden points")
    raise ValueError(f"the type of a space must be 'space', 'box' or 'finite', got {kind!r}")
