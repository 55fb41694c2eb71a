"""The picture of a comparison: every reading, every difference, every interval."""

import math

import matplotlib
import numpy as np
import pytest

from equipoise import plots
from equipoise.programs import Question, over, verdict_of

matplotlib.use("Agg")

ROUNDS = [{"old": 1.0 + i, "new": 0.9 + 0.9 * i, "old (again)": 1.0 + i} for i in range(12)]


@pytest.fixture(autouse=True)
def _closed():
    yield
    matplotlib.pyplot.close("all")


def test_readings_differences_and_intervals():
    verdict = verdict_of(Question(("old", "new", "old (again)"), null="old (again)", margin=0.01), ROUNDS)
    readings, differences, intervals = plots.contest(verdict)
    lines = {line.get_label(): line.get_ydata() for line in readings.lines}
    assert list(lines) == ["old", "new", "old (again)"]
    np.testing.assert_allclose(lines["old"], [told["old"] for told in ROUNDS])
    np.testing.assert_allclose(differences.lines[0].get_ydata(), -10.0)
    assert len(differences.collections) == 2  # a band each
    assert [label.get_text() for label in intervals.get_yticklabels()] == ["new", "old (again)"]
    assert readings.get_ylabel() == "seconds"


def test_sessions_have_a_row_each():
    verdict = over(Question(("old", "new")), [ROUNDS, ROUNDS, [{"old": 1.0, "new": 1.0}] * 9])
    rows = [label.get_text() for label in plots.contest(verdict)[2].get_yticklabels()]
    assert rows == ["new, 1", "new, 2", "new, 3", "new, all"]


def test_little_data_and_other_scales():
    question = Question(("old", "new"), scale="difference", kind="reading")
    axes = plots.contest(verdict_of(question, ROUNDS[:2]))
    assert axes[1].get_ylabel() == "difference of readings"
    assert not axes[1].collections  # no interval yet
    assert len(plots.contest(verdict_of(question, []))) == 3


def test_a_limit_that_is_not_known_leaves_the_dot_alone():
    verdict = verdict_of(Question(("old", "new")), ROUNDS[:3])
    assert math.isinf(verdict.findings[0].interval.high)
    assert len(plots.contest(verdict)[2].lines) == 2  # the dot, and zero
