"""The belief under a model that is learned: its hyperparameters are refitted on a growing schedule.

If the offset has a law, the model learns from single readings, and the pure duels guard it: the order within a pair is
random, so the posterior of the duels is unbiased for any offset. If the duels show, by several standard deviations,
that their leader beats the modeled one, the duels are trusted (METHOD section 7).
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Self

import numpy as np

from equipoise._typing import FloatArray
from equipoise.belief.anywhere import AnywherePosterior
from equipoise.belief.confidence import Confidence, CredibleConfidence
from equipoise.belief.disturbances import sudden
from equipoise.belief.folding import Folding
from equipoise.belief.model import Form, Hyperparameters, Learned, Model, Schedule
from equipoise.belief.observations import Observations
from equipoise.belief.posterior import Lazy, direction, says_nothing
from equipoise.belief.refitting import accounting, having, refit, rescaled
from equipoise.belief.trust import contradicts, under_model
from equipoise.data import Comparison
from equipoise.likelihoods import Compression
from equipoise.offsets import Disturbance, Offset, accounts_for, accounts_of, unaccounted
from equipoise.offsets import accounting as accounting_law

FOLDING: Folding = Folding()
"""The rule that selects the unfolded ones of very many readings."""


@dataclass(frozen=True, eq=False)
class LearnedModel:
    """A model to be learned: its form and its fitting rules.

    Attributes:
        form: The form of the model.
        confidence: The rule for the confidence coefficient; two standard deviations by default.
        schedule: The schedule of refits.
        jump: The number of standard deviations that a jump of the offset must explain.
        folding: The rule that selects unfolded readings of very many; with `None` all of them.
        guard: The standard deviations at which duels contradict the law of the offset; `None` for no check.

    Example:
        >>> import numpy as np, equipoise as eq
        >>> model = LearnedModel(eq.belief.Form(np.ones(1), np.arange(1), eq.Tracked()))
        >>> times, x = np.arange(20), np.arange(20) * 0.618 % 1
        >>> lessons = [eq.Comparison([x[t]], None, 5 * np.sin(3 * x[t]) + t, time=t) for t in times]
        >>> mean, variance = eq.belief.infer(lessons, model).posterior.difference([[0.5]], [0.0])
        >>> bool(abs(mean[0] - 5 * np.sin(1.5)) < 0.2)
        True
    """

    form: Form
    confidence: Confidence = field(default_factory=CredibleConfidence)
    schedule: Schedule = field(default_factory=Schedule)
    jump: float = 4.5
    folding: Folding | None = FOLDING
    guard: float | None = None


@dataclass(frozen=True, eq=False)
class LearnedBelief(Lazy):
    """The belief under a model learned from readings, with the duels that guard it.

    Attributes:
        model: The model to be learned and its fitting rules.
        form: The form of the model, including the circumstances of the readings.
        hyperparameters: The hyperparameters of the last fit.
        exact: The posterior of the readings under these.
        duels: The posterior of the pure duels, if they guard the law of the offset.
        fitted_at: The number of data when all were last learned at once.
        nulls: Differences of a point and itself: pure noise.
        origins: The number subtracted from the readings of each campaign.
        strangers: The ignored readings of campaigns that contradict the others.
        compression: The compression of readings far below the best one; `None` if there is none.
    """

    model: LearnedModel
    form: Form
    hyperparameters: Hyperparameters
    exact: AnywherePosterior
    duels: AnywherePosterior | None = None
    fitted_at: int = 0
    nulls: FloatArray = field(default_factory=lambda: np.empty(0))
    origins: Mapping[str, float] = field(default_factory=dict)
    strangers: Mapping[str, Observations] = field(default_factory=dict)
    compression: Compression | None = None

    @classmethod
    def prior(cls, model: LearnedModel) -> "LearnedBelief":
        """Return the belief before any data."""
        guess = model.form.guess()
        first, folding, confidence = model.form.model(guess), model.folding, model.confidence
        exact = AnywherePosterior(first.kernel, first.noise, confidence, first.offset, folding)
        duels = None
        if model.guard is not None:
            pairs = None if folding is None else folding.of_pairs
            duels = AnywherePosterior(first.kernel, 2 * first.noise, confidence, folding=pairs)
        return cls(model, model.form, guess, exact, duels)

    @property
    def law(self) -> Offset:
        """The law of the offset, without further circumstances of the readings."""
        return unaccounted(self.form.law)

    @property
    def knows_unit(self) -> bool:
        """True if there are enough data to learn the scale of f."""
        return self.exact.comparisons >= self.model.schedule.first

    @cached_property
    def contradicted(self) -> bool:
        """True if the duels contradict the leader of the modeled posterior."""
        guard = self.model.guard
        return self.duels is not None and guard is not None and contradicts(self.duels, self.exact, guard)

    @property
    def trusted(self) -> AnywherePosterior:
        """The posterior used for claims: that of the duels alone if they contradict the model."""
        return self.duels if self.duels is not None and self.contradicted else self.exact

    @property
    def fitted(self) -> Learned:
        """Everything learned, without the data."""
        origin, accounts = self.origins.get("", 0.0), accounts_of(self.form.law)
        estranged = tuple(sorted(self.strangers))
        return Learned(self.hyperparameters, self.jumps, origin, self.blips, accounts, estranged, self.compression)

    @property
    def due(self) -> int:
        """The number of data at which it next fits, or folds some of them."""
        fold, next_fit = self.model.folding, self.model.schedule.above(self.fitted_at)
        return next_fit if fold is None else min(next_fit, fold.after(self.fitted_at))

    @property
    def overdue(self) -> bool:
        """True if a due fit or folding was skipped."""
        return self.exact.size >= self.due

    @property
    def jumps(self) -> tuple[Disturbance, ...]:
        """Time and variance of each jump of the offset."""
        return () if self.exact.offset is None else self.exact.offset.jumps

    @property
    def blips(self) -> tuple[Disturbance, ...]:
        """Time and variance of each reading found to be spoiled."""
        return () if self.exact.offset is None else self.exact.offset.blips

    @property
    def data(self) -> Observations:
        """The data, with origins subtracted."""
        if self.exact.source is None:
            raise RuntimeError("there are no data to fit")
        return self.exact.source

    def condition(self, comparison: Comparison, fit: bool = True) -> Self:
        """Return the belief that has also learned from a reading or a duel; `fit` allows a fit that is due."""
        if comparison.second is not None and self.duels is not None:
            return replace(self, duels=self.duels.condition(comparison))
        new = self._updated(comparison) if self._understands(comparison) else self
        return (new._refreshed() if fit else new)._guarded()

    def anticipate_all(self, comparisons: Sequence[Comparison]) -> Self:
        """Return the belief as if all comparisons came out as expected: surer, never refitted."""
        understood = [each for each in comparisons if self._understands(each)]
        new = replace(self, exact=self.exact.anticipate_all(understood)) if understood else self
        if self.duels is None:
            return new
        return replace(new, duels=self.duels.anticipate_all([each for each in comparisons if each.second is not None]))

    def caught_up(self) -> Self:
        """Return the belief after an overdue fit or folding, if there is one."""
        return self._refreshed()._guarded()

    def watching(self) -> Self:
        """Return the belief with the disturbances of the offset that the last readings require."""
        return self._watching()._guarded()

    def refitted(self) -> Self:
        """Return the belief with hyperparameters fitted to all readings."""
        return self._refitted()._guarded()

    def under(self, hyperparameters: Hyperparameters) -> Self:
        """Return the belief under given hyperparameters."""
        return having(self, hyperparameters, self.jumps, self.blips)._guarded()

    def relearned(self, comparisons: Sequence[Comparison], learned: Learned) -> Self:
        """Return the belief learned from all comparisons under an earlier fit, by a single factorization."""
        new = self._relearned([each for each in comparisons if self._understands(each)], learned)
        if self.duels is None:
            return new
        pairs = [each for each in comparisons if each.second is not None]
        news = [each for each in pairs if not says_nothing(*direction(each))]
        duels = under_model(self.duels, Observations.of(news) if news else None, len(pairs), new._of_duels)
        return replace(new, duels=duels)

    @cached_property
    def present(self) -> "LearnedBelief":
        """The belief from current readings alone, without earlier campaigns of a machine that was rebuilt since.

        It takes neither f nor noise and drift from those. Without earlier campaigns it is this belief.
        """
        data = self.exact.source
        if data is None or not (data.moments.campaign != "").any():
            return self
        model = replace(self.model, form=self.form.under(self.law), guard=None)
        alone = LearnedBelief.prior(model)
        alone = replace(
            alone,
            exact=of_now(self.exact, alone.exact.model),
            origins={"": self.origins.get("", 0.0)},
            compression=self.compression,
        )
        n = alone.exact.size
        return alone.refitted() if n >= model.schedule.first else rescaled(alone) if n else alone

    def _understands(self, comparison: Comparison) -> bool:
        """Return whether the model learns from the comparison: from single readings, or else from differences."""
        return self.law.learns_readings == (comparison.second is None)

    def _updated(self, comparison: Comparison) -> Self:
        """Return the belief with one more comparison, from which the model can learn."""
        told, forgetting = comparison.circumstances, self.strangers.get(comparison.circumstances.campaign)
        first = comparison.outcome if self.law.learns_readings else 0.0
        origins = {told.campaign: first} | dict(self.origins)
        centered = self._centered(comparison, origins)
        if forgetting is not None:
            known = forgetting.joined(Observations.of([centered]))
            return replace(self, origins=origins, strangers={**self.strangers, told.campaign: known})
        nulls = self.nulls
        if not self.law.learns_readings and says_nothing(*direction(comparison)):
            nulls = np.append(nulls, comparison.outcome)
        new = replace(self, exact=self.exact.condition(centered), nulls=nulls, origins=origins)
        if not accounts_for(self.form.law, told):
            new = accounting(new, self.form.feedback)
        n = new.exact.size
        if n < self.model.schedule.first:
            return rescaled(new) if n else new
        return new._watching()

    def _centered(self, comparison: Comparison, origins: Mapping[str, float]) -> Comparison:
        """Return a comparison minus the origin of its campaign, compressed."""
        centered = comparison.less(origins[comparison.circumstances.campaign])
        if self.compression is None:
            return centered
        return replace(centered, outcome=float(self.compression(np.array(centered.outcome))))

    def _watching(self) -> Self:
        found = sudden(self.exact, self.hyperparameters.step, self.model.jump)
        return self if found is None else having(self, self.hyperparameters, found.jumps, found.blips)

    def _refreshed(self) -> Self:
        if not self.overdue:
            return self
        return self._refitted() if self.exact.size >= self.model.schedule.above(self.fitted_at) else self._folded()

    def _refitted(self) -> Self:
        return self if self.exact.observations is None else refit(self)._folded()

    def _folded(self) -> Self:
        """Return the belief with old data folded, if there are very many."""
        exact, folding = self.exact, self.model.folding
        if folding is not None and folding.folded(exact.size):
            exact = exact.given(exact.source, exact.comparisons, exact.model)
        return replace(self, fitted_at=exact.size, exact=exact)

    def _guarded(self) -> Self:
        """Return the belief with its duels under the kernel of the changed model."""
        duels = self.duels
        if duels is None or self.exact.kernel == duels.kernel:
            return self
        return replace(self, duels=under_model(duels, duels.source, duels.comparisons, self._of_duels))

    @property
    def _of_duels(self) -> Model:
        """The model of the duels: the noise of two readings, and what a season changes from one to the next."""
        accounts, offset, noise = accounts_of(self.form.law), self.exact.offset, 2 * self.exact.regularizer
        if accounts is not None and accounts.period and offset is not None:
            noise += 2 * offset.unit**2 * offset.values[-1] * (1 - math.cos(2 * math.pi / accounts.period))
        return Model(self.exact.kernel, noise)

    def _relearned(self, understood: Sequence[Comparison], learned: Learned) -> Self:
        """Return the relearned belief without updating the duels that guard it."""
        null = [not self.law.learns_readings and says_nothing(*direction(each)) for each in understood]
        origins = _origins(understood, learned)
        known = replace(self, compression=learned.compression)
        centered = [known._centered(each, origins) for each, noise in zip(understood, null, strict=True) if not noise]
        kept = [each for each in centered if each.circumstances.campaign not in learned.estranged]
        form = self.form.under(accounting_law(self.law, learned.accounts)).fitting(learned.hyperparameters)
        model = form.model(learned.hyperparameters, learned.jumps, learned.blips)
        new = replace(
            known,
            form=form,
            hyperparameters=learned.hyperparameters,
            exact=self.exact.given(Observations.of(kept) if kept else None, len(understood), model),
            fitted_at=len(kept),
            nulls=np.array([each.outcome for each, noise in zip(understood, null, strict=True) if noise]),
            origins=origins,
            strangers=_by_campaign(each for each in centered if each.circumstances.campaign in learned.estranged),
        )
        accounted = all(accounts_for(form.law, each.circumstances) for each in kept)
        return new if accounted else accounting(new, form.feedback)


def _origins(understood: Sequence[Comparison], learned: Learned) -> dict[str, float]:
    """Return the origin of each campaign: its first reading, or for the current one the origin of the fit."""
    found = {each.circumstances.campaign: each.outcome for each in reversed(understood)}
    return found | ({"": learned.origin} if "" in found or not found else {})


def of_now(posterior: AnywherePosterior, model: Model) -> AnywherePosterior:
    """Return the posterior of the current readings under a model, without those of earlier campaigns."""
    data = posterior.source
    own = np.empty(0, dtype=np.intp) if data is None else np.flatnonzero(data.moments.campaign == "")
    if data is None or len(own) == len(data):
        return posterior.under(model)
    return posterior.given(data.take(own) if len(own) else None, len(own), model)


def _by_campaign(comparisons: Iterable[Comparison]) -> dict[str, Observations]:
    """Return the readings of each campaign, in their order."""
    found: dict[str, list[Comparison]] = {}
    for each in comparisons:
        found.setdefault(each.circumstances.campaign, []).append(each)
    return {name: Observations.of(some) for name, some in found.items()}
