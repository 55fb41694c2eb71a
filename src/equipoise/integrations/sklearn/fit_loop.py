"""The loop of a search: it fits the settings that the study asks for, several at once if there are processes."""

import warnings
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.exceptions import FitFailedWarning

from equipoise._typing import FloatArray
from equipoise.data import Trial
from equipoise.integrations.sklearn.cv_results import Fits, Key
from equipoise.integrations.sklearn.cv_splits import Splits
from equipoise.integrations.sklearn.distributions import Tuned
from equipoise.optimizer import Optimizer

MOST_FAILURES = 10
"""If this many fits fail before the first one succeeds, the search ends with scikit-learn's error."""

MOST_IDLE = 10
"""The search ends if this many proposals in a row were all fitted before: little is left to fit."""

Evaluate = Callable[..., dict[str, Any]]
"""The function of scikit-learn that fits some candidates on a split, in parallel."""


@dataclass
class FitLoop:
    """A search that is under way.

    Attributes:
        study: Proposes settings, and learns from their scores.
        tuned: The parameters of the estimator.
        splits: The splits on which settings are fitted.
        seeds: The names of the seeds of the estimator that the search chooses.
        key: The number from which those seeds are drawn, with that of the split.
        optimized: The name of the optimized score; the first score if it is not a name.
        fits: The fits so far.
    """

    study: Optimizer
    tuned: Tuned
    splits: Splits
    seeds: Sequence[str]
    key: int
    optimized: Any
    fits: Fits

    def run(self, evaluate: Evaluate, most: int, at_once: int) -> dict[str, Any]:
        """Fit until there were `most` fits, or nothing new is proposed; return the results as scikit-learn has them."""
        results: dict[str, Any] = {}
        idle = 0
        while len(self.fits.rows) < most and idle < MOST_IDLE:
            before, by_split = len(self.fits.rows), defaultdict[int, list[Trial]](list)
            for trial in self.study.ask(n=max(at_once, 1)):
                by_split[int(trial.seed or 0)].append(trial)
            for split, trials in by_split.items():
                results = self._fitted(trials, split, most - len(self.fits.rows), evaluate) or results
                self._tell(trials, split)
            idle = 0 if len(self.fits.rows) > before else idle + 1
        if not results:
            raise ValueError(
                f"All the {len(self.fits.rows)} fits failed. Set `error_score` to 'raise' to see the error."
            )
        return results

    @property
    def metric(self) -> str:
        """The score that is optimized."""
        names = [name.removeprefix("test_") for name in self.fits.names if name.startswith("test_")]
        return self.optimized if self.optimized in names else names[0]

    def table(self) -> dict[str, Any]:
        """Return the results at the end, as `cv_results_`."""
        keys, points = list(self.fits.candidates), np.array([np.frombuffer(key) for key in self.fits.candidates])
        mean = self._merit(points)
        best = self._key(self.study.recommend().x)
        place = keys.index(best) if best in keys else int(mean.argmax())  # it may lie between those that were fitted
        return self.fits.table(self.metric, mean + self._level(mean), place)

    def _merit(self, points: FloatArray) -> FloatArray:
        """Return the estimate of f at settings, in the unit of the scores, up to an unknown level."""
        mean, learned = self.study.posterior.mean(points), self.study.study.belief.learned
        below = mean.max() - mean
        return -below if learned is None or learned.compression is None else -learned.compression.stretched(below)

    def _level(self, mean: FloatArray) -> float:
        """Return the level of the scores, which f lacks: the median of the fits on a split, and the mean over splits.

        Far below the best, f is a guess. A split with many fits counts once, as it is one draw of the level.
        """
        left = self.fits.numbers(f"test_{self.metric}") - mean[:, None]
        return float(np.mean([np.nanmedian(each) for each in left.T if np.isfinite(each).any()]))

    def _key(self, x: Mapping[str, Any]) -> Key:
        return self.study.space.encode(x).tobytes()

    def _fitted(self, trials: Sequence[Trial], split: int, most: int, evaluate: Evaluate) -> dict[str, Any] | None:
        """Fit the settings of some trials on a split, those apart that were; return the results if any fit succeeded.

        Args:
            trials: The trials that the study asks for.
            split: The number of the split.
            most: How many fits there may be.
            evaluate: Fits.
        """
        wanted = {self._key(trial.x): self.tuned.values(trial.x) for trial in trials}
        new = {key: values for key, values in wanted.items() if (key, split) not in self.fits.rows}
        new = dict(list(new.items())[:most])
        if not new:
            return None
        self.fits.candidates |= {key: wanted[key] for key in new if key not in self.fits.candidates}
        seeded = self._seeded(split)
        results = self._succeeded(evaluate, [values | seeded for values in new.values()], split)
        self.fits.enter(list(new), split, results)
        return results

    def _succeeded(self, evaluate: Evaluate, candidates: Sequence[dict[str, Any]], split: int) -> dict[str, Any] | None:
        """Return the results; `None` if all of these fits failed, which need not end the search."""
        try:
            return evaluate(candidates, cv=self.splits.at(split))
        except ValueError as error:
            failed = len(self.fits.rows) + len(candidates)
            if "fits failed" not in str(error) or (not self.fits.names and failed >= MOST_FAILURES):
                raise
            warnings.warn(str(error).strip(), FitFailedWarning, stacklevel=2)
            return None

    def _seeded(self, split: int) -> dict[str, int]:
        """Return the seeds of the estimator that go with a split."""
        drawn = np.random.default_rng([self.key, split]).integers(2**31, size=len(self.seeds))
        return dict(zip(self.seeds, drawn.tolist(), strict=True))

    def _tell(self, trials: Sequence[Trial], split: int) -> None:
        """Tell the study the scores; trials that exceed the number of fits stay open."""
        for trial in trials:
            key = self._key(trial.x)
            if (key, split) not in self.fits.rows or trial.id not in self.study.study.open_trials:
                continue  # no room for it; or its other half has failed
            score = self.fits.score(key, split, self.metric) if self.fits.names else self.fits.error_score
            if np.isfinite(score):
                self.study.tell(trial, score)
            else:
                self.study.tell(trial, failed="the fit failed")
