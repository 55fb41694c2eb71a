"""Real data: replays of published experiments and recorded drifts.

Example:
    >>> from equipoise.lab.experiments.real import score
    >>> score("randomized blocks", "cake, 2 a batch", seed=0)["world"]
    'cake, 2 a batch'
"""

from equipoise.lab.experiments.real.autotuned import CARDS, Autotuned, autotuned
from equipoise.lab.experiments.real.lineup import COMPETITORS, REPORTED, missing
from equipoise.lab.experiments.real.published import TABLES, TRACES, Published, published, recording
from equipoise.lab.experiments.real.recorded import InBatches, OnInstrument, RecordedWorld, recorded_worlds
from equipoise.lab.experiments.real.rivals import Cma as Cma
from equipoise.lab.experiments.real.rivals import Optuna as Optuna
from equipoise.lab.experiments.real.score_plot import draw as draw
from equipoise.lab.experiments.real.scoring import planned, score, score_table, scores

__all__ = [
    "CARDS",
    "COMPETITORS",
    "REPORTED",
    "TABLES",
    "TRACES",
    "Autotuned",
    "InBatches",
    "OnInstrument",
    "Published",
    "RecordedWorld",
    "autotuned",
    "missing",
    "planned",
    "published",
    "recorded_worlds",
    "recording",
    "score",
    "score_table",
    "scores",
]
