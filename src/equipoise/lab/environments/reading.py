"""The interface between an environment and its bias: the reading, and the two protocols.

KK21 Eq. (1): y_t = f(x_t) + b_t + eps_t. The offset b_t may depend on everything before reading t, but not on x_t:
`BiasProcess.offset` takes no argument, so no bias can see the current point.
"""

from typing import NamedTuple, Protocol

from numpy.random import Generator

from equipoise._typing import FloatArray


class Measurement(NamedTuple):
    """One reading and its components: y = value + noise + offset.

    Attributes:
        time: The number of the reading, from 1.
        x: The point measured, shape (d,), read-only.
        value: f(x).
        noise: The error eps of this reading.
        offset: The bias b of this reading.
        y: The number shown to the learner.

    Examples:
        >>> import numpy as np
        >>> Measurement(1, np.zeros(2), value=0.5, noise=0.25, offset=-1.0, y=-0.25).unshifted
        0.75
    """

    time: int
    x: FloatArray
    value: float
    noise: float
    offset: float
    y: float

    @property
    def unshifted(self) -> float:
        """The reading without its offset, f(x) + eps."""
        return self.value + self.noise


class BiasProcess(Protocol):
    """A running bias: the environment calls `offset` once before each reading, and `record` once after it.

    Examples:
        >>> import numpy as np
        >>> from equipoise.lab.environments import NegativeRepeat
        >>> process = NegativeRepeat().start(np.random.default_rng(0))
        >>> b = process.offset()
        >>> process.record(Measurement(1, np.zeros(2), value=0.5, noise=0.0, offset=b, y=0.5 + b))
        >>> process.offset()
        -0.5
    """

    def offset(self) -> float:
        """Return b_t for the coming reading."""

    def record(self, reading: Measurement) -> None:
        """Record the reading just made."""


class Bias(Protocol):
    """The frozen description of a bias; any number of runs can start from it.

    Examples:
        >>> import numpy as np
        >>> from equipoise.lab.environments import Drift
        >>> Drift(slope=-0.1).start(np.random.default_rng(0)).offset()
        -0.1
    """

    def start(self, rng: Generator) -> BiasProcess:
        """Return a fresh process.

        Args:
            rng: The bias's separate stream of random numbers.
        """
