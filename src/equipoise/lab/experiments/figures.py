"""The paper's two figures: their learners and environments (METHOD section 8)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from equipoise.lab.experiments.experiment import Experiment
from equipoise.lab.experiments.results import Curves


@dataclass(frozen=True)
class World:
    """A bias, and the lengthscale given to the learners.

    Attributes:
        bias: Its name in `BIASES`.
        title: Its title in the figure.
        lengthscale: The lengthscale, if it differs from the paper's.
    """

    bias: str
    title: str
    lengthscale: float | None = None


Outcome = Mapping[tuple[World, str], Curves]
"""Curves by world and learner."""


@dataclass(frozen=True)
class Figure:
    """A figure of the paper.

    Attributes:
        name: Its name on the command line.
        title: Its caption.
        function: The function to maximize, a name in `FUNCTIONS`.
        readings: The number of readings in the paper.
        columns: The number of panels side by side.
        panels: The worlds drawn, row by row.
        extras: The worlds that appear only in the table.
        learners: The learners drawn.
        thin: The learners drawn as thin dashed lines; each is a variant of the learner with which its name begins.
        labels: The labels of learners in this figure, if they differ from their names.
    """

    name: str
    title: str
    function: str
    readings: int
    columns: int
    panels: tuple[World, ...]
    extras: tuple[World, ...]
    learners: tuple[str, ...]
    thin: tuple[str, ...]
    labels: Mapping[str, str] = field(default_factory=dict)

    @property
    def worlds(self) -> tuple[World, ...]:
        """All worlds."""
        return self.panels + self.extras

    def label(self, learner: str) -> str:
        """Return the label of a learner in this figure."""
        return self.labels.get(learner, learner.replace("-honest", " (honest noise)"))

    def experiments(self, **settings: Any) -> dict[tuple[World, str], Experiment]:
        """Return every experiment of the figure and its table."""
        return {
            (world, who): Experiment(who, self.function, world.bias, lengthscale=world.lengthscale, **settings)
            for world in self.worlds
            for who in self.learners + self.thin
        }


NONE = World("none", "No bias")
REPEAT = World("negative-repeat", "Negative repeat")
DRIFT = World("drift", "Drift")
COMPENSATED = World("compensated-drift", "Compensated drift")
CALIBRATION = World("calibration", "Calibration")
PERIODIC = World("periodic", "Periodic drift")
AUTHORS_CALIBRATION = World("calibration-authors", "Calibration as in the authors' code")
SMOOTHER = World("calibration", "Calibration, lengthscale 0.5", lengthscale=0.5)


FIGURES: dict[str, Figure] = {
    "linear": Figure(
        name="linear",
        title="Linear reward: 20 random actions on the unit sphere of R^4, noise variance 1",
        function="linear",
        readings=10_000,
        columns=2,
        panels=(NONE, REPEAT, DRIFT, COMPENSATED),
        extras=(),
        learners=("UCB", "BOSE", "SemiTS", "IDS-one", "IDS-two"),
        thin=("SemiTS-authors", "IDS-one-honest", "IDS-two-honest"),
        labels={"SemiTS-authors": "SemiTS (authors' v)"},
    ),
    "camelback": Figure(
        name="camelback",
        title="Camelback function on a 30 x 30 grid, noise variance 0.1",
        function="camelback-grid",
        readings=1_000,
        columns=2,
        panels=(CALIBRATION, PERIODIC),
        extras=(AUTHORS_CALIBRATION, SMOOTHER, NONE),
        learners=("UCB", "IDS-one", "IDS-two"),
        thin=(),
        labels={"UCB": "GP-UCB"},
    ),
}
"""The paper's figures by name."""
