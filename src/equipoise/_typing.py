"""Types shared by every module."""

import numpy as np
from numpy.random import BitGenerator, Generator, SeedSequence
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
"""An array of double-precision numbers; its shape is given where it is used."""

Seed = int | SeedSequence | BitGenerator | Generator | None
"""What a public `rng` argument takes: anything `numpy.random.default_rng` takes (SPEC 7)."""
