"""The paper's learners take the decisions that were recorded, step by step: each from the recorded history before it.

A whole run is chaotic: of two points that are equally good, another processor may choose the other one, and all that
follows differs. So every duel is compared by itself. What is believed and scored must agree to 1e-6, and another
choice must be as good as the recorded one to 1e-6. `python tests/lab/experiments/test_golden.py` records again.
"""

import json
from pathlib import Path

import numpy as np
import pytest

from equipoise.answer import Reproduction
from equipoise.lab.experiments import LEARNERS, Experiment
from equipoise.log import MemoryLog
from equipoise.log.codec import Codec
from equipoise.log.events import Asked

PATH = Path(__file__).parents[2] / "data" / "golden.json"
WORLDS = [("linear", "drift"), ("linear", "negative-repeat"), ("camelback-grid", "drift")]
READINGS = 24
SHOWN = 10
"""At how many points, spread evenly over their list, the belief is recorded."""


def worlds(learner):
    """The worlds of a learner: on the grid of 900 points not those that look at all pairs, nor those whose weights
    count draws, which neighbors on the grid win by less than what is left out of their covariance."""
    return WORLDS[:2] if learner in ("BOSE", "IDS-pairs", "SemiTS", "SemiTS-authors") else WORLDS


def begun(learner, function, bias):
    return Experiment(learner, function, bias, readings=READINGS, seed=3).plan.start(0)


def believed(optimizer):
    """What is believed and scored at the end: the numbers on which every policy rests."""
    points = optimizer.space.points
    belief = optimizer.posterior.at(points)
    leader = int(belief.mean.argmax())
    shown = np.linspace(0, len(points) - 1, SHOWN).astype(int)
    gaps, psi = belief.gaps(leader), belief.psi(leader)
    scores = belief.optimism(leader)[shown] - belief.mean[leader]
    return {"gaps": gaps[shown], "psi": psi[shown], "scores": scores, "bound": [belief.gap_bound(leader)]}


@pytest.mark.parametrize("learner", [name for name in LEARNERS if name != "default"])
def test_every_step_is_the_recorded_one(learner):
    for (function, bias), recorded in zip(worlds(learner), json.loads(PATH.read_text())[learner], strict=True):
        optimizer, _ = begun(learner, function, bias)
        codec = Codec(optimizer.space)
        for content in recorded["events"]:
            event = codec.from_json(content)
            if isinstance(event, Asked):
                assert optimizer.study.reproduces(event) is not Reproduction.DIFFERENT, (function, bias, event.number)
            optimizer.study.replay(event)
        for name, numbers in believed(optimizer).items():
            assert numbers == pytest.approx(recorded[name], rel=1e-6, abs=1e-6), (function, bias, name)


def record(learner, function, bias):
    optimizer, environment = begun(learner, function, bias)
    journal = MemoryLog(optimizer.space)
    optimizer._session.write_to(journal, {})
    for _ in range(READINGS):
        trial = optimizer.ask()
        optimizer.tell(trial, round(environment.measure(trial.x), 6))
    events = [{name: part for name, part in event.items() if name != "x"} for event in journal.events]
    return {"events": events} | {name: np.round(part, 9).tolist() for name, part in believed(optimizer).items()}


if __name__ == "__main__":
    named = [name for name in LEARNERS if name != "default"]
    lines = [f"{json.dumps(name)}: {json.dumps([record(name, *world) for world in worlds(name)])}" for name in named]
    PATH.write_text("{" + ",\n".join(lines) + "}\n")
