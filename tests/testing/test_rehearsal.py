"""Short studies: their results on a machine with more than one core."""

import os
import subprocess
import sys


def test_a_study_resumes_to_the_same_bits_also_where_blas_has_threads():
    """Live and replay must use as many threads: a dot product of 10,000 numbers is summed in another order by two."""
    code = (
        "import equipoise as eq; from equipoise.testing.rehearsal import finite, must_resume;"
        "must_resume(finite(), policy=eq.SemiTS(draws=200))"
    )
    two = os.environ | {"OMP_NUM_THREADS": "2", "OPENBLAS_NUM_THREADS": "2"}
    subprocess.run([sys.executable, "-c", code], check=True, env=two)
