"""The protocol of a space, as the other parts see it."""

from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from equipoise._typing import FloatArray


class Domain(Protocol):
    """Contract of every space.

    An encoded point is a row of d numbers: in the unit cube, except for `Finite`, whose coordinates are used as they
    are. Equal settings have equal encodings, to the byte.
    """

    @property
    def dimension(self) -> int:
        """The number d of coordinates of an encoded point."""
        ...

    @property
    def points(self) -> FloatArray | None:
        """All encoded points, shape (m, d), if they are finitely many and listed; else `None`."""
        ...

    @property
    def settings(self) -> FloatArray | None:
        """All valid points of a space that lists none, shape (m, d), if they are some thousands at most."""
        ...

    @property
    def free(self) -> NDArray[np.bool_]:
        """For each coordinate, whether a gradient method may move it, shape (d,)."""
        ...

    @property
    def groups(self) -> NDArray[np.intp]:
        """The index of the parameter of each coordinate, shape (d,); a choice has several coordinates."""
        ...

    @property
    def extent(self) -> FloatArray:
        """The range of each coordinate, shape (d,), above zero."""
        ...

    @property
    def levels(self) -> tuple[int, ...]:
        """The number of values of each parameter, zero for a continuous one; empty for a `Box` or a list."""
        ...

    @property
    def contexts(self) -> tuple[str, ...]:
        """The names of the contexts; none for most spaces."""
        ...

    def at(self, context: Mapping[str, Any] | None) -> "Domain":
        """Return the part of the space at a context, with as many coordinates; itself if it has no contexts."""
        ...

    def through(self, point: FloatArray) -> "Domain":
        """Return the part of the space at the context of an encoded point; the space itself if it has no contexts."""
        ...

    def candidates(self, rng: Generator) -> FloatArray:
        """Return valid encoded points from all over the space, shape (m, d); for a short list, all its points."""
        ...

    def near(self, points: FloatArray, scale: FloatArray, n: int, rng: Generator) -> FloatArray:
        """Return valid encoded points around given ones; none if `candidates` are all points anyway.

        Args:
            points: Encoded points, shape (j, d). The first one is explored most thoroughly.
            scale: How far to go in each coordinate, shape (d,), above zero.
            n: How many points to try around each.
            rng: The source of randomness.

        Returns:
            Shape (k, d).
        """
        ...

    def valid(self, points: FloatArray) -> NDArray[np.bool_]:
        """Return which encoded points, shape (m, d), satisfy the constraint and are at the context, if there is one."""
        ...

    def snap(self, points: FloatArray) -> FloatArray:
        """Return the nearest encodings of a setting, shape (m, d), for any points of that shape.

        In a part of a space those of the same settings, at its context.
        """
        ...

    def steps(self, given: Any) -> FloatArray:
        """Return the longest steps of parameters, in the user's unit, as differences of coordinates, shape (d,)."""
        ...

    def encode(self, x: Any) -> FloatArray:
        """Return the user's point as coordinates, shape (d,)."""
        ...

    def decode(self, point: FloatArray) -> Any:
        """Return coordinates as the user's point."""
        ...

    def to_dict(self) -> dict[str, Any]:
        """Return a description for JSON, from which `space_from_dict` makes the space again."""
        ...
