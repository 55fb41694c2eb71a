"""Loops of experiments, simulated: greedy as it is known to be, and a short version of the gate's table."""

import numpy as np
import pytest

from benched import benchmark

loops = benchmark("loops")
IdeaWorld, gated, greedy = loops.IdeaWorld, loops.gated, loops.greedy


def test_greedy_believes_in_luck():
    """Gain 0.5, belief 2.9, 30 % harmed: over 4,000 loops of 100 measurements."""
    found = greedy(IdeaWorld(), 100, 4000, 0)
    assert found.gain.mean() == pytest.approx(0.48, abs=0.06)
    assert found.believed.mean() == pytest.approx(2.93, abs=0.08)
    assert (found.gain < 0).mean() == pytest.approx(0.29, abs=0.03)


def test_the_gate_gains_harms_nobody_and_believes_the_truth():
    """Eight loops: too few to compare gains with greedy's, which the benchmark does with 200."""
    world = IdeaWorld(share=0.95, size=0.4)
    gate, rival = gated(world, 60, 8, 0), greedy(world, 60, 500, 0)
    assert gate.gain.mean() > 0.2
    assert (gate.gain >= 0).mean() >= 7 / 8
    assert abs(np.mean(gate.believed - gate.gain)) < 0.3 < np.mean(rival.believed - rival.gain)
    assert gate.false.sum() <= 2


def test_ideas_that_do_nothing_are_not_kept():
    found = gated(IdeaWorld(share=0.8, drift=0.1, same=True), 60, 4, 1)
    assert found.kept.sum() <= 1
    assert (found.gain == 0).all()
    assert found.ideas.min() > 10
