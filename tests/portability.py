"""Compute like other processors: `make portable` runs what is numerical with each of their kernels.

OpenBLAS takes its kernels by the name in `OPENBLAS_CORETYPE`. It does not check whether the processor can run them, so
only those are offered here that it can. Another BLAS ignores the name. NumPy does without the instructions that
`NPY_DISABLE_CPU_FEATURES` names, and warns of a name that it does not choose by; so those are named that it does.

    python tests/portability.py [ARGUMENTS OF PYTEST]
"""

import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

COMPILED = np._core._multiarray_umath
FEATURES = COMPILED.__cpu_features__
"""Which instructions this processor has, by NumPy's names."""

NEEDED = {
    "Haswell": ("AVX2", "FMA3"),
    "SkylakeX": ("AVX2", "FMA3", "AVX512F"),
    "Zen": ("AVX2", "FMA3"),
    "Sandybridge": ("AVX",),
    "Prescott": ("SSE3",),
}
"""Kernels of OpenBLAS, and the instructions they need."""

CORES = [core for core, needed in NEEDED.items() if all(FEATURES.get(each, False) for each in needed)]
"""Kernels that this processor can run."""

DISABLED = " ".join(name for name in COMPILED.__cpu_dispatch__ if FEATURES.get(name, False))
"""All instructions that NumPy uses only if the processor has them: AVX2 and AVX512 among them."""

NUMERICAL = [
    "src",
    "tests/answer/test_betting.py",
    "tests/answer/test_regret.py",
    "tests/answer/test_share.py",
    "tests/belief",
    "tests/programs/test_centers.py",
    "tests/programs/test_verdict.py",
    "tests/lab/experiments/test_golden.py",
    "tests/lab/experiments/test_preferences.py",
    "tests/lab/fleet/test_balancing.py",
    "tests/lab/fleet/test_draws.py",
    "tests/lab/fleet/test_own_coins.py",
    "tests/lab/fleet/test_traces.py",
    "tests/likelihoods",
    "tests/kernels",
    "tests/offsets",
    "tests/policies",
    "tests/reductions",
    "tests/study/test_recommender.py",
    "tests/study/test_exploring.py",
    "tests/study/test_learning.py",
    "tests/study/test_judges_kept.py",
    "tests/test_linalg.py",
    "tests/test_optimizer.py",
]
"""What computes, and whose tests could depend on the last bit; those that repeat a claim over many runs do not."""


def with_core(core):
    """The environment of a process that takes the kernels of a core."""
    return os.environ | {"OPENBLAS_CORETYPE": core}


def environments():
    """Every way to compute that there is here, by name."""
    ways = {core: with_core(core) for core in CORES}
    return ways | ({"without " + DISABLED: os.environ | {"NPY_DISABLE_CPU_FEATURES": DISABLED}} if DISABLED else {})


LOOK = """
import json, numpy, threadpoolctl
from equipoise import _linalg
_linalg.lapack()
kernels = {each.get("architecture", "") for each in threadpoolctl.threadpool_info() if each["user_api"] == "blas"}
features = [name for name, there in numpy._core._multiarray_umath.__cpu_features__.items() if there]
print(json.dumps([sorted(kernels), sorted(features)]))
"""


def seen(environment):
    """The kernels of BLAS and the instructions of NumPy that a process has; no warning comes of them."""
    command = [sys.executable, "-W", "error", "-c", LOOK]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return done.stdout


def main(arguments):
    """Run the numerical tests in every environment; return how many of these failed."""
    failed, folder, known = [], Path(__file__).parents[1], {}
    for name, environment in environments().items():
        way = seen(environment)
        if way in known:
            print(f"{name}: computes as {known[way]} does", flush=True)
            continue
        known[way] = name
        start = time.perf_counter()
        command = [sys.executable, "-m", "pytest", "-n", "auto", "--dist", "worksteal", *NUMERICAL, *arguments]
        code = subprocess.run(command, cwd=folder, env=environment, check=False).returncode
        print(f"{name}: {'passed' if code == 0 else 'FAILED'} in {time.perf_counter() - start:.0f} s", flush=True)
        failed += [name] if code else []
    print(f"failed: {', '.join(failed) or 'none'} of {len(known)}")
    return len(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
