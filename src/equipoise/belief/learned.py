"""A posterior that learns its own hyperparameters, refitted on a growing schedule."""

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Self, cast

import numpy as np

from equipoise._typing import FloatArray
from equipoise.belief.anywhere import AnywherePosterior
from equipoise.belief.caution import careful
from equipoise.belief.confidence import Confidence, CredibleConfidence
from equipoise.belief.disturbances import sudden
from equipoise.belief.evidence import typical_step
from equipoise.belief.folding import Folding
from equipoise.belief.landscape import Landscape
from equipoise.belief.model import Form, Hyperparameters, Learned, Schedule
from equipoise.belief.observations import Observations
from equipoise.belief.posterior import Belief, Posterior, direction, says_nothing
from equipoise.belief.refitting import refit
from equipoise.data import Comparison
from equipoise.offsets import Disturbance, Moments, Offset, accounting, accounts_for, accounts_of, unaccounted

READINGS_PER_PARAMETER = 15
"""How many readings an estimate of what is left to gain needs: with fewer it holds far too seldom (docs/claims.md)."""

FOLDING = Folding()
"""Which of very many readings are kept as they are."""

BOLD_LENGTHSCALES = 0.7
"""The lengthscales of a second opinion, in units of those that were learned, which are too long at times."""


class LearnedPosterior(Posterior):
    """A posterior whose kernel and noise, and where asked the law of the offset, are learned from the data.

    Args:
        form: The form of the model.
        confidence: Gives the confidence coefficient; two standard deviations by default.
        schedule: When to refit.
        jump: The offset is allowed to jump where that explains the readings by this many standard deviations.
        folding: How many of very many readings are kept as they are; all of them with `None`.

    Example:
        >>> import numpy as np, equipoise as eq
        >>> form = eq.belief.Form(np.ones(1), np.arange(1), eq.Tracked())
        >>> posterior = eq.belief.LearnedPosterior(form)
        >>> for t in range(20):
        ...     x = (t * 0.618) % 1
        ...     posterior = posterior.condition(eq.Comparison([x], None, 5 * np.sin(3 * x) + t, time=t))
        >>> mean, variance = posterior.difference([[0.5]], [0.0])
        >>> bool(abs(mean[0] - 5 * np.sin(1.5)) < 0.2)
        True
    """

    form: Form
    _derived = ("present",)

    def __init__(
        self,
        form: Form,
        confidence: Confidence | None = None,
        schedule: Schedule | None = None,
        jump: float = 4.5,
        folding: Folding | None = FOLDING,
    ) -> None:
        model = form.model(form.guess())
        confidence = CredibleConfidence() if confidence is None else confidence
        super().__init__(model.kernel, model.noise, confidence)
        self.form, self.jump, self.folding = form, jump, folding
        self.schedule = Schedule() if schedule is None else schedule
        self.exact = AnywherePosterior(model.kernel, model.noise, confidence, model.offset, folding)
        self.hyperparameters = form.guess()
        self._learned_at = 0  # how many data there were when all were learned at once
        self._nulls = np.empty(0)
        self._origins: dict[str, float] = {}  # what is subtracted from the readings of each campaign
        self._forgotten: dict[str, Observations] = {}  # the readings of campaigns that are of another f

    @property
    def law(self) -> Offset:
        """What is assumed of the offset, whatever was told of the readings."""
        return unaccounted(self.form.law)

    @property
    def active(self) -> AnywherePosterior:
        """The posterior under the hyperparameters learned so far."""
        return self.exact

    @property
    def knows_unit(self) -> bool:
        """Whether there were enough data to learn how large f is."""
        return self.comparisons >= self.schedule.first

    @property
    def knows_enough(self) -> bool:
        """Whether there were so many readings that what was learned of the model can be relied on."""
        readings = self.comparisons * (1 if self.law.learns_readings else 2)
        return readings >= READINGS_PER_PARAMETER * self.form.parameters

    @property
    def fitted(self) -> Learned:
        """What was learned, but for the data."""
        origin = self._origins.get("", 0.0)
        accounts, estranged = accounts_of(self.form.law), tuple(sorted(self.estranged))
        return Learned(self.hyperparameters, self.jumps, origin, self.blips, accounts, estranged)

    @property
    def due(self) -> int:
        """How many data there will be when it fits, or folds some of them, next."""
        fold = self.folding
        next_fit = self.schedule.above(self._learned_at)
        return next_fit if fold is None else min(next_fit, fold.after(self._learned_at))

    @property
    def overdue(self) -> bool:
        """Whether a fit or a folding is due that was left out."""
        return self.exact.size >= self.due

    @property
    def estranged(self) -> frozenset[str]:
        """The campaigns whose readings contradict the others: nothing is learned from them."""
        return frozenset(self._forgotten)

    def condition(self, comparison: Comparison) -> Self:
        """Return the posterior that has also learned from `comparison`, refitted where the schedule says so."""
        return self.condition_only(comparison).caught_up()

    def condition_only(self, comparison: Comparison) -> Self:
        """Return the posterior that has also learned from `comparison`, and has fitted nothing."""
        if not self._understands(comparison):
            return self
        new, told = self._copy(), comparison.told
        first = comparison.outcome if self.law.learns_readings else 0.0
        new._origins = {told.campaign: first} | self._origins
        centered = replace(comparison, outcome=comparison.outcome - new._origins[told.campaign])
        if told.campaign in self._forgotten:
            return new._forgetting(centered)
        if not self.law.learns_readings and says_nothing(*direction(comparison)):
            new._nulls = np.append(self._nulls, comparison.outcome)
        new = new._answering(self.exact.condition(centered))
        if not accounts_for(self.form.law, told):
            new = new.accounting(self.form.feedback)
        n = new.exact.size
        if n < self.schedule.first:
            return new._rescaled() if n else new
        return new.watching()

    def caught_up(self) -> Self:
        """Return it with the fit, or the folding, that is overdue, if one is."""
        if not self.overdue:
            return self
        fits = self.exact.size >= self.schedule.above(self._learned_at)
        return self.refitted() if fits else self.folded()

    def anticipate(self, comparison: Comparison) -> Self:
        """Return the posterior as if `comparison` came out as expected: surer, never refitted."""
        return self._copy()._answering(self.exact.anticipate(comparison)) if self._understands(comparison) else self

    def anticipate_all(self, comparisons: Sequence[Comparison]) -> Self:
        """Return the posterior as if all comparisons came out as expected."""
        understood = [each for each in comparisons if self._understands(each)]
        return self._copy()._answering(self.exact.anticipate_all(understood)) if understood else self

    def at(self, points: FloatArray) -> Belief:
        """Return the belief about f at the given points."""
        return self.exact.at(points)

    def mean(self, points: FloatArray) -> FloatArray:
        """Return the posterior mean of f alone, shape (m,)."""
        return self.exact.mean(points)

    def landscape(self, leader: FloatArray) -> Landscape:
        """Return gap and variance against a leader, with their gradients."""
        return self.exact.landscape(leader)

    def offsets(self, leader: FloatArray) -> tuple[FloatArray, FloatArray] | None:
        """Return the time of each reading, and what the leader would have read then; `None` if not modeled."""
        found = self.exact.offsets(leader)
        return None if found is None else (found[0], found[1] + self._origins.get("", 0.0))

    @property
    def support(self) -> FloatArray:
        """The points of all data, each once."""
        return self.exact.support

    def told(self, comparisons: Sequence[Comparison], learned: Learned) -> Self:
        """Return what learning from comparisons comes to under given hyperparameters, by a single factorization.

        Args:
            comparisons: All it is to know.
            learned: What was learned before.
        """
        understood = [each for each in comparisons if self._understands(each)]
        null = [not self.law.learns_readings and says_nothing(*direction(each)) for each in understood]
        origins = {each.told.campaign: each.outcome for each in reversed(understood)} | {"": learned.origin}
        centered = [
            replace(each, outcome=each.outcome - origins[each.told.campaign])
            for each, noise in zip(understood, null, strict=True)
            if not noise
        ]
        kept = [each for each in centered if each.told.campaign not in learned.estranged]
        new = self._copy()
        new.hyperparameters, new._origins = learned.hyperparameters, origins
        new.form = self.form.under(accounting(self.law, learned.accounts))
        new._forgotten = {}
        for each in centered:
            if each.told.campaign in learned.estranged:
                new = new._forgetting(each)
        new._nulls = np.array([each.outcome for each, noise in zip(understood, null, strict=True) if noise])
        new._learned_at = len(kept)
        model = new.form.model(learned.hyperparameters, learned.jumps, learned.blips)
        data = Observations.of(kept) if kept else None
        new = new._answering(self.exact.given(data, len(understood), model))
        known = all(accounts_for(new.form.law, each.told) for each in kept)
        return new if known else new.accounting(new.form.feedback)

    def must_understand(self, learned: Learned) -> None:
        """Refuse what cannot have been fitted by it."""
        self.form.must_have(learned)

    def watching(self) -> Self:
        """Return the posterior that allows for a disturbance wherever the last readings insist on one."""
        found = sudden(self.exact, self.hyperparameters.step, self.jump)
        return self if found is None else self.having(self.hyperparameters, found.jumps, found.blips)

    def refitted(self) -> Self:
        """Fit the hyperparameters; with the jumps that were overlooked, where these explain the readings better."""
        return self if self.exact.observations is None else cast(Self, refit(self)).folded()

    def folded(self) -> Self:
        """Return it with those data folded that are many and old."""
        new = self._copy()
        new._learned_at = self.exact.size
        return new._answering(self.exact.folded())

    @property
    def pair_variance(self) -> float:
        """The variance of the difference of two readings of one pair at one point, noise and offset."""
        if not self.law.learns_readings:
            return self.regularizer
        n = float(len(self.exact.observations or ()))
        pair = Moments(np.array([n, n + 1.0]), np.zeros(2))
        offset = None if self.exact.offset is None else replace(self.exact.offset, jumps=(), blips=())
        K = np.zeros((2, 2)) if offset is None else offset(pair, pair)  # what is past is the same at both: it cancels
        return 2 * self.regularizer + float(K[0, 0] + K[1, 1] - 2 * K[0, 1])

    @property
    def proven(self) -> bool:
        """Never: a kernel that was learned is no assumption of a theorem."""
        return False

    @property
    def opinions(self) -> tuple[Posterior, ...]:
        """What it has learned, and the same data under shorter lengthscales."""
        return (self.exact, self.rescaled(BOLD_LENGTHSCALES, 1.0))

    @property
    def typical_step(self) -> float:
        """The size of a typical difference of readings."""
        return self.hyperparameters.step

    def supposing(self, hyperparameters: Hyperparameters) -> Self:
        """Return it under given hyperparameters."""
        return self.having(hyperparameters, self.jumps, self.blips)

    def rescaled(self, lengthscales: float, variance: float) -> AnywherePosterior:
        """Return it under lengthscales and a variance of f multiplied by these."""
        learned = self.hyperparameters
        scaled = tuple(lengthscales * each for each in learned.lengthscales)
        other = replace(learned, lengthscales=scaled, variance=variance * learned.variance)
        return self.exact.under(self.form.model(other, self.jumps, self.blips))

    def shortened(self, share: float) -> AnywherePosterior:
        """Return it under lengthscales of at most this share of the prior's median."""
        longest = share * math.exp(self.form.table[0].mean)
        learned = self.hyperparameters
        lengthscales = tuple(min(each, longest) for each in learned.lengthscales)
        short = self.form.model(replace(learned, lengthscales=lengthscales), self.jumps, self.blips)
        return self.exact.under(short)

    def cautious(self, unit: float) -> AnywherePosterior:
        """Return the readings of now under short lengthscales and a large variance of f: where it must not be wrong.

        Args:
            unit: The least standard deviation of f.
        """
        return careful(self.present, unit)

    @cached_property
    def present(self) -> "LearnedPosterior":
        """What the readings of now teach alone: not those of earlier campaigns, of a machine that was rebuilt since.

        Neither f nor the noise and the drift are taken from those. Without any it is this posterior.
        """
        data = self.exact.source
        if data is None or not (data.moments.campaign != "").any():
            return self
        form = self.form.under(self.law)
        alone = LearnedPosterior(form, self.confidence, self.schedule, self.jump, self.folding)
        alone = alone._answering(self.exact.present(form.model(form.guess())))
        alone._origins = {"": self._origins.get("", 0.0)}
        n = alone.exact.size
        return alone.refitted() if n >= self.schedule.first else alone._rescaled() if n else alone

    @property
    def spoiled(self) -> tuple[float, ...]:
        """The times of the readings found to be spoiled."""
        return tuple(time for time, _ in self.blips)

    def glance(self) -> Hyperparameters:
        """Return what the readings suggest at a glance, as a start of the fit."""
        data = self._unspoiled.in_units_of(self.step)
        return replace(self.form.guess(), offset=self.form.law.estimate(data.moments, data.outcomes))

    @property
    def step(self) -> float:
        """The typical step of the readings that are not spoiled, at a glance."""
        return typical_step(self._unspoiled, self.form.law)

    @property
    def jumps(self) -> tuple[Disturbance, ...]:
        """Time and variance of each jump of the offset."""
        return () if self.exact.offset is None else self.exact.offset.jumps

    @property
    def blips(self) -> tuple[Disturbance, ...]:
        """Time and variance of each reading found to be spoiled."""
        return () if self.exact.offset is None else self.exact.offset.blips

    @property
    def _unspoiled(self) -> Observations:
        """The readings that are not spoiled, nor copies; all of them where all are spoiled."""
        data = self.data.without_copies()
        kept = np.flatnonzero(~np.isin(data.moments.time, self.spoiled) | (data.moments.campaign != ""))
        return data.take(kept) if 0 < len(kept) < len(data) else data

    def _understands(self, comparison: Comparison) -> bool:
        """Whether it learns from such: not from a reading if from duels, nor from a duel if from its readings."""
        return self.law.learns_readings == (comparison.second is None)

    def _rescaled(self) -> Self:
        """Take the unit of the outcomes from the few there are; too few to fit more."""
        now = self.accounting(self.form.feedback)
        return now.having(now.form.guess(now.step), self.jumps, self.blips)

    def accounting(self, feedback: bool) -> Self:
        """Return the same data in a form that accounts for what was told of them."""
        form = self.form.accounting(self.data.moments, feedback)
        if form is self.form:
            return self
        new = self._copy()
        new.form = form
        return new.having(form.carried(self.hyperparameters, self.form), self.jumps, self.blips)

    def _forgetting(self, comparison: Comparison) -> Self:
        """Keep a reading of a campaign that is of another f, in a copy that nobody has seen yet."""
        name, news = comparison.told.campaign, Observations.of([comparison])
        known = self._forgotten.get(name)
        self._forgotten = self._forgotten | {name: news if known is None else known.joined(news)}
        return self

    def having(
        self, hyperparameters: Hyperparameters, jumps: tuple[Disturbance, ...], blips: tuple[Disturbance, ...]
    ) -> Self:
        """Return the posterior of the same data under other hyperparameters and disturbances."""
        new = self._copy()
        new.hyperparameters = hyperparameters
        return new._answering(self.exact.under(self.form.model(hyperparameters, jumps, blips)))

    def _answering(self, exact: AnywherePosterior) -> Self:
        """Take up what a changed exact posterior says, in a copy that nobody has seen yet."""
        self.exact = exact
        self.kernel, self.regularizer = exact.kernel, exact.regularizer
        self.log_det, self.comparisons = exact.log_det, exact.comparisons
        return self

    @property
    def data(self) -> Observations:
        """What it has learned from, origins subtracted."""
        if self.exact.source is None:
            raise RuntimeError("there are no data to fit")
        return self.exact.source
