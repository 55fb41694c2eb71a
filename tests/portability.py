"""The ways in which one processor computes like others: kernels of OpenBLAS, and NumPy without some instructions.

OpenBLAS takes its kernels by the name in `OPENBLAS_CORETYPE`. It does not check whether the processor can run them, so
only those are offered here that it can. Another BLAS ignores the name.
"""

import os

import numpy as np

FEATURES = np._core._multiarray_umath.__cpu_features__
"""Which instructions this processor has, by NumPy's names."""

NEEDED = {
    "Haswell": ("AVX2", "FMA3"),
    "SkylakeX": ("AVX2", "FMA3", "AVX512_SKX"),
    "Zen": ("AVX2", "FMA3"),
    "Sandybridge": ("AVX",),
    "Prescott": ("SSE3",),
}
"""Kernels of OpenBLAS, and the instructions they need."""

CORES = [core for core, needed in NEEDED.items() if all(FEATURES.get(each, False) for each in needed)]
"""Kernels that this processor can run."""

DISABLED = "AVX2 AVX512F"
"""Instructions without which NumPy is to do; it warns if the processor, or NumPy's choice, lacks one of them anyway."""


def with_core(core):
    """The environment of a process that takes the kernels of a core."""
    return os.environ | {"OPENBLAS_CORETYPE": core}


def without_features():
    """The environment of a process whose NumPy does without some instructions."""
    return os.environ | {"NPY_DISABLE_CPU_FEATURES": DISABLED}
