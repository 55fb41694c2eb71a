"""Proposing the pair of a trial, and the best setting, from the model of a study."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from numpy.random import Generator

from equipoise._typing import FloatArray
from equipoise.answer.recommendation import Recommendation, recommended
from equipoise.data import Proposal
from equipoise.integrations.optuna.learning import StudyPosterior
from equipoise.integrations.optuna.model import StudyModel
from equipoise.integrations.optuna.records import Pair
from equipoise.integrations.optuna.translation import Translation, internal
from equipoise.policies import Policy
from equipoise.reductions.baselines import Baseline
from equipoise.reductions.one_point import OnePoint
from equipoise.reductions.two_point import TwoPoint
from equipoise.study.proposing import Proposer

FORECAST = 256
"""How many of the last readings the baseline of one-point duels is made from."""


@dataclass(frozen=True)
class PairMaker:
    """Policy and reduction of a study: what to compare next, given its model."""

    policy: Policy
    reduction: TwoPoint | OnePoint

    def pair(
        self,
        posterior: StudyPosterior,
        model: StudyModel,
        translation: Translation,
        fixed: Mapping[str, Any],
        rng: Generator,
    ) -> Pair:
        """Propose a pair; its first member is the challenger, its second the best setting known.

        Args:
            posterior: The belief.
            model: The study.
            translation: The space.
            fixed: What the user has fixed of the first member.
            rng: The source of randomness.
        """
        expecting = model.anticipating(posterior, translation)
        candidates = self._proposer(translation).candidates(expecting, self.policy.scores, rng)
        best, challenger = self.policy(expecting, candidates, rng).points
        if fixed and isinstance(self.reduction, TwoPoint):
            return _against(fixed, best, challenger, translation, rng)
        return self._duel(Proposal.pair(challenger, best), posterior, model, translation, rng)

    def recommend(
        self, posterior: StudyPosterior, translation: Translation, readings: int, rng: Generator
    ) -> Recommendation:
        """Return the best setting as far as is known, and a bound on what is left to gain."""
        best = recommended(posterior, self._proposer(translation), readings, rng)
        return replace(best, x=translation.external(translation.space.encode(best.x)))

    def _proposer(self, translation: Translation) -> Proposer:
        return Proposer(translation.space, self.policy, self.reduction)

    def _duel(
        self, proposal: Proposal, posterior: StudyPosterior, model: StudyModel, translation: Translation, rng: Generator
    ) -> Pair:
        """Throw the coin: for the order of the two, or for which of them is measured."""
        values = _values(translation.decode(proposal.points[0]), translation.decode(proposal.points[1]))
        if isinstance(self.reduction, TwoPoint):
            return Pair(values, swapped=self.reduction(proposal, rng).signs[0] < 0)
        means = posterior.at(proposal.points).mean
        forecast = _forecast(self.reduction.baseline, model).predict(float(means.mean()))
        duel = self.reduction(proposal, rng, forecast)
        predicted = float(means[0 if duel.signs[0] > 0 else 1])
        return Pair(values, sign=duel.signs[0], baseline=duel.baseline, predicted=predicted)


def _against(
    fixed: Mapping[str, Any], best: FloatArray, challenger: FloatArray, translation: Translation, rng: Generator
) -> Pair:
    """Compare what the user has enqueued with the best setting known, or where it is that one, with the challenger."""
    known = {name: internal(d, fixed[name]) for name, d in translation.distributions.items() if name in fixed}
    second = translation.decode(best)
    first = second | known
    if first == second:
        second = translation.decode(challenger)
    return Pair(_values(first, second), swapped=bool(rng.random() < 0.5))


def _values(first: Mapping[str, float], second: Mapping[str, float]) -> dict[str, tuple[float, float]]:
    return {name: (first[name], second[name]) for name in first}


def _forecast(baseline: Baseline, model: StudyModel) -> Baseline:
    """Return the forecast after the last readings, in the order of the trials."""
    for duel in model.finished[-FORECAST:]:
        if duel.pair.sign is not None:
            baseline = baseline.update(duel.readings[0], duel.pair.predicted)
    return baseline
