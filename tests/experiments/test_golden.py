"""The paper's learners take the same decisions as version 0.1.0 did: their regrets, reading by reading.

Recorded with one BLAS thread, as sums of matrix products depend on their number.
"""

import json
from pathlib import Path

import pytest

from equipoise.experiments import Experiment

GOLDEN = json.loads((Path(__file__).parents[1] / "data" / "golden.json").read_text())
SLOW = {"BOSE", "SemiTS", "SemiTS-authors"}
"""Of these a third of each trace will do."""

LEARNERS = sorted({key.split("/")[2] for key in GOLDEN})


@pytest.mark.parametrize("learner", LEARNERS)
def test_the_traces_are_those_of_the_first_version(learner):
    for key, expected in GOLDEN.items():
        function, bias, name = key.split("/")
        if name == learner:
            expected = expected[: len(expected) // 3] if learner in SLOW else expected
            trace = Experiment(name, function, bias, readings=len(expected), seed=3).plan.run(0)
            assert trace.regrets.tolist() == pytest.approx(expected, rel=1e-12, abs=0.0), key
