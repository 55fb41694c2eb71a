"""What passes between an environment and its bias: the reading, and the two protocols.

KK21 Eq. (1): y_t = f(x_t) + b_t + eps_t. The offset b_t may depend on everything before reading t, never on
x_t: `BiasProcess.offset` takes no argument, so no bias can see the current point.
"""

from typing import NamedTuple, Protocol

from numpy.random import Generator

from equipoise._typing import FloatArray


class Measurement(NamedTuple):
    """One reading and what it is made of: y = value + noise + offset.

    Attributes:
        time: The number of the reading, from 1.
        x: Where it was taken, shape (d,), read-only.
        value: f(x).
        noise: The error eps of this reading.
        offset: The bias b of this reading.
        y: What the learner is shown.

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
    """A bias at work: asked once before each reading, told once after it.

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
        """Take note of the reading just made."""


class Bias(Protocol):
    """The frozen description of a bias, from which any number of runs start.

    Examples:
        >>> import numpy as np
        >>> from equipoise.lab.environments import Drift
        >>> Drift(slope=-0.1).start(np.random.default_rng(0)).offset()
        -0.1
    """

    def start(self, rng: Generator) -> BiasProcess:
        """Return a fresh process.

        Args:
            rng: The bias's own stream of random numbers.
        """
