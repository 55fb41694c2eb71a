"""The importance of each knob: its share in the variance of the estimate over all settings, by Sobol' indices.

S07  Saltelli et al., Variance based sensitivity analysis of model output, Comput. Phys. Commun. 181 (2010).

symbol   meaning                                                        shape
A, B     two samples of the space                                       (n, d)
AB_i     A, with the columns of knob i from B                           (n, d)
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from equipoise._typing import FloatArray
from equipoise.answer import Recommendation
from equipoise.optimizer import Optimizer
from equipoise.plots.knobs import Knob, knobs
from equipoise.plots.style import BLUE, GRAY, axes

VALUES = 64
"""The number of values of a knob to try."""

DRAWS = 256
"""The number of settings in each of the two samples: a share of 0.65 of 30 knobs then varies by 0.05 from draw to draw,
and they take 0.12 s at 100 readings."""


@dataclass(frozen=True)
class Importance:
    """The share of a knob in the variance of the estimate.

    Attributes:
        knob: The knob.
        total: The share that would remain if all other knobs were fixed, including interactions with them.
        alone: The share that would vanish if only this knob were fixed.
    """

    knob: Knob
    total: float
    alone: float

    def __str__(self) -> str:
        return f"{self.knob.name}: {100 * self.total:.0f} %, {100 * self.alone:.0f} % alone"


def shares(opt: Optimizer, best: Recommendation) -> list[Importance]:
    """Return the importance of every knob, the largest first; contexts are those of the recommendation.

    The estimate is the posterior mean over the whole range of each knob, regardless of the constraint. Shares of the
    variance add up to one or more: an interaction counts for each of its knobs. If nothing is known, all are zero.
    """
    known = knobs(opt.space, VALUES)
    if not known:
        return []
    rng = np.random.default_rng(0)  # repeated pictures must be the same
    base = opt.space.encode(best.x)
    samples = np.repeat(base[None, None], DRAWS, axis=1).repeat(2, axis=0)
    own = []
    for knob in known:
        rows = np.array([opt.space.encode(knob.put(best.x, value)) for value in knob.values])
        columns = (rows != rows[0]).any(axis=0)
        own.append(columns)
        samples[:, :, columns] = rows[_spread(len(rows), rng)][:, :, columns]
    A, B = samples
    mixed = [np.where(columns, B, A) for columns in own]
    f = opt.posterior.mean(np.concatenate((A, B, *mixed))).reshape(-1, DRAWS)
    variance = float(f[:2].var())
    if not variance > 0:
        return [Importance(knob, 0.0, 0.0) for knob in known]
    total = ((f[2:] - f[0]) ** 2).mean(axis=1) / (2 * variance)  # S07 Table 2 (f)
    alone = ((f[1] - f[:2].mean()) * (f[2:] - f[0])).mean(axis=1) / variance  # S07 Table 2 (b)
    both = (np.clip(each, 0.0, 1.0).tolist() for each in (total, alone))
    found = [Importance(knob, t, min(a, t)) for knob, t, a in zip(known, *both, strict=True)]
    return sorted(found, key=lambda each: -each.total)


def _spread(values: int, rng: np.random.Generator) -> Any:
    """Return indices into a list for both samples: each value equally often, in random order, shape (2, DRAWS)."""
    places = (np.arange(DRAWS) + 0.5) * values / DRAWS
    return np.array([rng.permutation(places).astype(int) for _ in range(2)])


def importances(opt: Optimizer, ax: Any = None, *, context: Mapping[str, Any] | None = None) -> Any:
    """Draw the importance of each knob, its share in the variance of the estimate over all settings, as bars.

    The dark part of a bar is the effect of the knob alone, the light part its interactions with others. The shares are
    those of the present belief: a knob that hardly moved has a small share.

    Args:
        opt: The study.
        ax: Axes to draw on.
        context: The context to show, in a space with contexts; the last one requested by default.

    Returns:
        The Axes.
    """
    ax, found = axes(ax), shares(opt, opt.recommend(context=context))
    if not found:
        raise ValueError(f"`opt` must have parameters that can be turned, got the plain set {opt.space!r}")
    names = [each.knob.name for each in found]
    total: FloatArray = 100 * np.array([each.total for each in found])
    alone: FloatArray = 100 * np.array([each.alone for each in found])
    ax.barh(names, total, color=BLUE, alpha=0.35, label="with others")
    ax.barh(names, alone, color=BLUE, label="alone")
    for k, each in enumerate(total):
        ax.annotate(f"{each:.0f} %", (each, k), (4, 0), textcoords="offset points", va="center", color=GRAY)
    ax.invert_yaxis()
    ax.set(xlabel="share of the variance of the estimate / %", title="Which knob matters", xlim=(0, 112))
    ax.legend(frameon=False, fontsize="small", loc="lower right")
    return ax
