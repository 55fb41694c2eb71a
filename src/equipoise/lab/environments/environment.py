"""The environment of a learner: a function, noise, and a bias.

KK21 Eq. (1): y_t = f(x_t) + b_t + eps_t.
"""

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike

from equipoise._typing import Seed
from equipoise._validation import nonnegative
from equipoise.lab.environments.drifts import NoBias
from equipoise.lab.environments.function import Function
from equipoise.lab.environments.reading import Bias, Measurement

_NO_BIAS = NoBias()
_BLOCK = 256  # noise values drawn at a time: one call for many readings


class Environment:
    """A function that is read with noise and an offset, one reading at a time.

    The noise of reading t depends only on the seed and on t, and the bias has a separate stream: two learners with the
    same seed meet the same noise, even if they measure different points. To continue an environment twice, pickle or
    deep-copy it.

    Args:
        function: The function to maximize.
        bias: The offset of the readings.
        noise: The standard deviation of the Gaussian noise.
        rng: The seed of noise and bias.
        keep_history: If true, fill `history`; turn it off to save memory in very long runs.

    Attributes:
        history: Every reading so far, with its components.

    Examples:
        >>> from equipoise.lab.environments import Drift, camelback
        >>> environment = Environment(camelback(), Drift(slope=-1.0))
        >>> [environment.measure([0.0, 0.0]) for _ in range(3)]
        [-1.0, -2.0, -3.0]
        >>> round(environment.regret([0.0, 0.0]), 4), environment.readings
        (1.0316, 3)
    """

    def __init__(
        self,
        function: Function,
        bias: Bias = _NO_BIAS,
        noise: float = 0.0,
        rng: Seed = None,
        *,
        keep_history: bool = True,
    ) -> None:
        noise_rng, bias_rng = np.random.default_rng(rng).spawn(2)
        self.function = function
        self.bias = bias
        self.noise = nonnegative("noise", noise)
        self.history: list[Measurement] = []
        self._keep_history = keep_history
        self._readings = 0
        self._noise = _Noise(self.noise, noise_rng)
        self._process = bias.start(bias_rng)

    @property
    def readings(self) -> int:
        """The number of readings taken."""
        return self._readings

    def measure(self, x: ArrayLike) -> float:
        """Take a reading at `x` and return the displayed number.

        Args:
            x: The point, shape (d,). Points outside the domain can be read as well; their regret may be negative.
        """
        point, value = self.function.locate(x)  # checks x before anything is drawn
        time = self._readings = self._readings + 1
        offset = self._process.offset()
        noise = self._noise.draw()
        y = value + offset + noise
        reading = Measurement(time, point, value, noise, offset, y)
        self._process.record(reading)
        if self._keep_history:
            self.history.append(reading)
        return y

    def regret(self, x: ArrayLike) -> float:
        """Return how much better the best point is than `x`, shape (d,), without taking a reading."""
        return self.function.maximum - self.function.locate(x)[1]

    def __repr__(self) -> str:
        return f"Environment({self.function.name!r}, {self.bias!r}, noise={self.noise!r})"


class _Noise:
    """Independent Gaussian errors, drawn in blocks."""

    def __init__(self, scale: float, rng: Generator) -> None:
        self._scale = scale
        self._rng = rng
        self._waiting: list[float] = []

    def draw(self) -> float:
        if not self._waiting:
            block = self._scale * self._rng.standard_normal(_BLOCK)
            self._waiting = block[::-1].tolist()  # popped from the end, so in the order drawn
        return self._waiting.pop()
