"""Millions of linear learners: rounds of IDS with two-point duels in compiled code, on a GPU or a processor.

    symbol   meaning                                              shape
    L        number of learners
    M, D     number of actions, of features
    X        features of the actions                              (M, D, L)
    truth    the parameter itself: f(a) = <a, truth>              (D, L)
    theta    mean of each learner's parameter                     (D, L)
    C        its covariance, lower triangle by rows               (D (D + 1) / 2, L)

The source is `rounds.cu`, one thread a learner: a round touches no memory but the actions in the fast shared one, and
random numbers are made where they are used. A GPU needs nvcc, a processor g++; the library is built when first wanted
and kept in the user's cache. Learners come last, so that neighbors in memory are neighbors on the GPU.
"""

import ctypes
import hashlib
import math
import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from equipoise import _validation as check
from equipoise.belief import Array, PaperConfidence
from equipoise.lab.environments import Bias, CompensatedDrift, Drift, NegativeRepeat, NoBias

SOURCE = Path(__file__).with_name("rounds.cu")

COMMANDS = {
    "cuda": ["nvcc", "-O3", "-arch=native", "-prec-div=false", "-prec-sqrt=false", "-shared", "-Xcompiler", "-fPIC"],
    "cpu": ["g++", "-O3", "-march=native", "-shared", "-fPIC", "-x", "c++"],
}
"""How the source is compiled for each device."""


class _Settings(ctypes.Structure):
    _fields_ = (
        *((name, ctypes.c_double) for name in ("regularizer", "rho", "norm_bound", "log_term", "noise")),
        *((name, ctypes.c_double) for name in ("slope", "level", "follow_value", "follow_noise")),
        ("seed", ctypes.c_uint64),
    )


class _State(ctypes.Structure):
    _fields_ = tuple(
        (name, ctypes.c_void_p)
        for name in ("X", "truth", "theta", "C", "log_det", "last_value", "last_noise", "regret")
    )


def library(device: str, actions: int, features: int, precision: str = "float", **defines: int) -> Any:
    """Return the compiled rounds for this many actions and features; built at the first call, which takes seconds.

    Args:
        device: "cuda" or "cpu".
        actions: M.
        features: D.
        precision: "float" or "double".
        **defines: Further constants of the source, such as `BLOCKS`.
    """
    constants = {"ACTIONS": actions, "FEATURES": features, "REAL": precision, **defines}
    command = [*COMMANDS[device], *(f"-D{name}={value}" for name, value in constants.items())]
    if shutil.which(command[0]) is None:
        raise RuntimeError(f"compiled rounds on {device!r} need {command[0]} to build them, which is not installed")
    key = hashlib.sha256(" ".join(command).encode() + SOURCE.read_bytes()).hexdigest()[:16]
    target = _cache() / f"rounds-{key}.so"
    if not target.exists():
        temporary = target.with_name(f"{target.name}-{os.getpid()}")
        built = subprocess.run([*command, str(SOURCE), "-o", str(temporary)], capture_output=True, text=True)
        if built.returncode:
            raise RuntimeError(f"{SOURCE.name} could not be compiled: {built.stderr}")
        os.replace(temporary, target)
    loaded = ctypes.CDLL(str(target))
    numbers = (ctypes.c_long, ctypes.c_long, ctypes.c_int, ctypes.c_void_p)
    loaded.play_rounds.argtypes = [_Settings, _State, *numbers]
    return loaded


def _cache() -> Path:
    folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "equipoise"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder


@dataclass(frozen=True, eq=False)
class CompiledDuels:
    """Linear learners that play IDS with two-point duels, in compiled rounds; the arrays change in place.

    Args:
        X: Features of the actions, shape (M, D, L): NumPy's on a processor, torch's on a GPU.
        truth: The parameter of f, shape (D, L).
        bias: The offset of the readings: none, drift, negative repeat or compensated drift.
        noise: Standard deviation of a reading's noise.
        confidence: rho, B and delta of the confidence intervals.
        regularizer: lambda.
        seed: Of all coins and all noise.
        library: What `library` returned.

    Example:
        >>> import shutil, equipoise as eq
        >>> from equipoise.lab.environments import Drift
        >>> X = np.random.default_rng(0).standard_normal((20, 4, 1000)).astype(np.float32)
        >>> if shutil.which("g++"):
        ...     duels = CompiledDuels.on(X, X[0], Drift(), seed=1)
        ...     paid = [float(duels.play(100).mean()) for _ in range(2)]
        ...     print(paid[1] < 1.5 * paid[0])
        True
    """

    X: Array
    truth: Array
    bias: Bias
    noise: float
    confidence: PaperConfidence
    regularizer: float
    seed: int
    library: Any
    state: dict[str, Array]

    @classmethod
    def on(
        cls,
        X: Array,
        truth: Array,
        bias: Bias,
        *,
        noise: float = 1.0,
        confidence: PaperConfidence | None = None,
        regularizer: float = 1.0,
        seed: int = 0,
        **defines: int,
    ) -> "CompiledDuels":
        """Return learners that have read nothing yet, on the device where `X` lies.

        Args:
            X: Features of the actions, shape (M, D, L).
            truth: The parameter of f, shape (D, L).
            bias: The offset of the readings.
            noise: Standard deviation of a reading's noise.
            confidence: rho, B and delta; the paper's by default.
            regularizer: lambda.
            seed: Of all coins and all noise.
            **defines: Constants of the source, such as `BLOCKS`.
        """
        device = "cpu" if isinstance(X, np.ndarray) else "cuda"
        m, d, learners = X.shape
        built = library(device, m, d, "double" if X.dtype.itemsize == 8 else "float", **defines)
        chosen = PaperConfidence() if confidence is None else confidence
        state = {name: _zeros(X, size * learners) for name, size in _sizes(d).items()}
        for i in range(d):
            at = (i * (i + 1) // 2 + i) * learners
            state["C"][at : at + learners] = 1.0
        check.positive("regularizer", regularizer)
        return cls(_packed(X), _packed(truth), bias, noise, chosen, regularizer, seed, built, state)

    @property
    def regret(self) -> Array:
        """What all readings of each learner have cost so far, shape (L,)."""
        return self.state["regret"]

    def play(self, rounds: int, begin: int = 0, stream: int = 0) -> Array:
        """Play this many duels of each learner and return their regret so far, shape (L,).

        Args:
            rounds: How many duels, of two readings each.
            begin: How many were played before.
            stream: The CUDA stream to use.
        """
        learners = self.X.shape[-1]
        pointers = {"X": self.X, "truth": self.truth, **self.state}
        state = _State(**{name: _pointer(array) for name, array in pointers.items()})
        error = self.library.play_rounds(self._settings, state, learners, begin, rounds, stream)
        if error:
            raise RuntimeError(f"the rounds could not be started: CUDA error {error}")
        return self.regret

    @property
    def _settings(self) -> _Settings:
        told = self.confidence
        log_term = 2 * math.log(1 / told.delta)
        numbers = self.regularizer, told.outcome_noise, told.norm_bound, log_term, self.noise
        return _Settings(*numbers, *coefficients_of(self.bias), self.seed)


def coefficients_of(bias: Bias) -> tuple[float, float, float, float]:
    """Return slope, level, and how much of the last value and the last noise an offset takes off.

    Example:
        >>> coefficients_of(Drift(slope=-0.5)), coefficients_of(NegativeRepeat())
        ((-0.5, 0.0, 0.0, 0.0), (0.0, 0.0, 1.0, 0.0))
    """
    match bias:
        case NoBias():
            return 0.0, 0.0, 0.0, 0.0
        case Drift(slope):
            return slope, 0.0, 0.0, 0.0
        case NegativeRepeat("value"):
            return 0.0, 0.0, 1.0, 0.0
        case CompensatedDrift(slope):
            return 0.0, slope, 1.0, 1.0
    raise ValueError(f"`bias` must be NoBias, Drift, NegativeRepeat of a value or CompensatedDrift, got {bias!r}")


def _sizes(d: int) -> dict[str, int]:
    return {"theta": d, "C": d * (d + 1) // 2, "log_det": 1, "last_value": 1, "last_noise": 1, "regret": 1}


def _zeros(like: Array, size: int) -> Array:
    return np.zeros(size, dtype=like.dtype) if isinstance(like, np.ndarray) else like.new_zeros(size)


def _packed(array: Array) -> Array:
    return np.ascontiguousarray(array) if isinstance(array, np.ndarray) else array.contiguous()


def _pointer(array: Array) -> int:
    return int(array.ctypes.data if isinstance(array, np.ndarray) else array.data_ptr())
