"""Racing: a trial is measured piece by piece on the pieces of the incumbent, and stopped once it is shown to be worse.

    symbol   meaning                                                                            shape
    d        by how much the incumbent is better, on each piece that both have                  (n,)
    v        d over the root mean square of those so far, its own one included                  (n,)
    b        stakes that are mixed equally                                                      (4,)
    alpha    how often a trial that is as good as the incumbent is stopped, at most             ()

The incumbent is the best of many trials, so its readings on the pieces that chose it are lucky ones: on these an equal
trial looks worse. So the pieces are split. The first half of them, the race, stops trials and chooses nothing;
the second half chooses the incumbent and stops nothing. If a trial is as good as the incumbent, d is as likely positive
as negative, and `sum_b prod_i (1 + tanh(b v_i)) / 4` ever reaches 1/alpha with a probability of alpha at most.
"""

import math
from collections.abc import Mapping, Sequence

import numpy as np
from optuna.study import Study, StudyDirection
from optuna.trial import FrozenTrial, TrialState

from equipoise._typing import FloatArray
from equipoise.answer.sequential import coin_wealth

STAKES = np.array([0.4, 0.7, 1.2, 2.0])
"""For effects of 0.5 to 2 deviations of a difference. A trial that is worse by one deviation is stopped after 9 pieces
in the median; with the stakes of `betting`, which are for a verdict on one pair, after 11."""


def worse(d: FloatArray, alpha: float) -> bool:
    """Return whether paired differences ever showed that a trial is worse: that their center is above 0.

    Example:
        >>> worse(np.array([1.0, 1.2, 0.8, 1.1, 0.9, 1.3]), 0.05)
        True
        >>> worse(np.array([1.0, 1.2, -0.8, 1.1, 0.9, -1.3]), 0.05)
        False
    """
    size = np.sqrt(np.cumsum(d**2) / np.arange(1, len(d) + 1))
    v = np.divide(d, size, out=np.zeros(len(d)), where=size > 0)
    wealth = coin_wealth(v, STAKES, np.full(len(STAKES), 1 / len(STAKES)))
    return bool(len(d)) and bool(wealth.max() >= 1.0 / alpha)


def race(study: Study, number: int) -> tuple[list[int], FrozenTrial | None]:
    """Return the pieces of the race, and the incumbent of a trial: the best one on the others; `None` if there is none.

    Args:
        study: Its complete trials, without the given one, may be the incumbent.
        number: The number of the trial that races.
    """
    complete = study.get_trials(deepcopy=False, states=(TrialState.COMPLETE,))
    known = [each for each in complete if each.number != number and _finite(each)]
    if not known:
        return [], None
    steps = list(min(known, key=lambda each: each.number).intermediate_values)
    choosing = steps[(len(steps) + 1) // 2 :]
    fair = [each for each in known if each.intermediate_values.keys() >= set(choosing)] if choosing else []
    sign = _sign(study)
    best = max(fair, key=lambda each: sign * sum(each.intermediate_values[i] for i in choosing), default=None)
    return steps[: (len(steps) + 1) // 2], best


def differences(study: Study, values: Mapping[int, float], incumbent: FrozenTrial, pieces: Sequence[int]) -> FloatArray:
    """Return by how much the incumbent is better than a trial on the pieces of the race, shape (n,).

    Args:
        study: Says whether larger or smaller values are better.
        values: What the trial has reported, by piece, in this order.
        incumbent: The incumbent.
        pieces: Those of the race.
    """
    best, counts = incumbent.intermediate_values, set(pieces)
    both = [best[i] - y for i, y in values.items() if i in counts and i in best]
    d = _sign(study) * np.array(both, dtype=np.float64)
    return d[np.isfinite(d)]


def _sign(study: Study) -> float:
    """Return 1 if a larger value is better, else -1."""
    return 1.0 if study.direction == StudyDirection.MAXIMIZE else -1.0


def _finite(trial: FrozenTrial) -> bool:
    """Return whether a trial has reports, all of them numbers."""
    return bool(trial.intermediate_values) and all(map(math.isfinite, trial.intermediate_values.values()))
