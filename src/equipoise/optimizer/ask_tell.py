"""The ask/tell shell around policy, reduction and belief: the only mutable object, and it does no mathematics."""

from __future__ import annotations

import copy
import os
from collections.abc import Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any, overload

from equipoise import _validation as check
from equipoise.data import Trial
from equipoise.log import Streams
from equipoise.optimizer.answers import Answerable
from equipoise.optimizer.asking_judges import Judging
from equipoise.optimizer.loop import Looping
from equipoise.optimizer.revising import Revisable
from equipoise.study import PARTS, GivenAnswer, Session, Setup, number_of

if TYPE_CHECKING:
    from equipoise._typing import Seed
    from equipoise.answer import Recommendation
    from equipoise.belief import Confidence, LearnedModel, Posterior
    from equipoise.kernels import Kernel
    from equipoise.likelihoods import Likelihood, Pair
    from equipoise.log import Journal
    from equipoise.offsets import Offset
    from equipoise.policies import Policy
    from equipoise.reductions import Reduction
    from equipoise.spaces import Domain
    from equipoise.study import Study


class Optimizer(Judging, Looping, Revisable, Answerable):
    """Optimizes what you measure, by comparing: ask, measure, tell, repeat.

    With a space and nothing else, the kernel, the noise and the law of the offset are learned from the readings. With
    a `kernel`, nothing is learned but f: the paper's setting. Every part is an object and can be replaced. `ask` and
    `tell` may be called from several threads; several trials may be open at once and told in any order.

    Args:
        space: Where points lie: `Space`, `Box` or `Finite`.
        kernel: Prior covariance of f on encoded points; learned by default.
        policy: Chooses what to propose; `Challenger()` by default.
        reduction: How a proposal is measured; by default the one the policy is meant for.
        offset: What is assumed of the bias: `Tracked()` by default, `Arbitrary()` with a `kernel` or for duels of a
            single reading.
        likelihood: How a reading depends on f: `Gaussian()` by default, a number; `likelihoods.Poisson()`, a count;
            `likelihoods.Binomial()`, successes and trials.
        confidence: Confidence coefficient; two standard deviations by default, with a `kernel` a fixed 1.
        regularizer: Variance given to the noise of an outcome; learned by default, with a `kernel` 1.
        posterior: The belief before any data, where the above do not say it all.
        start: The setting where things stand now, with its context if the space has contexts: it is in the first duel,
            and claims are made against it too.
        drop: Never ask for a setting that may be worse than `start` by more than this, as far as is known.
        max_step: By how much a parameter may differ at most from one reading to the next, from `start` on: by name for
            a `Space`, else one number or one for each coordinate.
        design: How many points, spread over the space, are measured first; by default as many as the dimension asks for
            where the model is learned, else none. Further ones follow at times. 0 for neither.
        minimize: Look for the smallest value instead of the largest.
        objective: The name of what is made as large as possible, if a trial has several numbers: "flux"; or as small,
            "-size"; or several at once, "flux, -size", see `front`.
        limits: What must hold, such as "loss <= 3", or "size <= start + 1", which no offset can move. The study looks
            for the best setting where all limits hold.
        safe: Never ask for a setting unless all limits hold there, as far as is known, from a `start` where they do.
        seeds: Whether each trial has a seed under which it is to be measured, `trial.seed`: `True` for 0, 1, 2 and on;
            or a list of seeds, folds, instances or scenarios. Both settings of a pair are measured under the same, and
            claims are about the mean over seeds.
        block: To which block, such as a day or a batch, the readings belong; see `begin_block`.
        max_gap: Give up a pair whose halves were measured further apart than this, by the times told.
        rng: Seed, generator or `Streams`; the same one and the same answers give the same run.
        log: A new file in which every event is written before it counts; `resume` rebuilds the optimizer from it, also
            in other processes, which may work on it together. Or a `Journal` of your own, taken up where it ends. In
            memory only by default, and so are copies.

    Example:
        >>> import equipoise as eq
        >>> opt = eq.Optimizer(eq.Space(q1=eq.Float(0, 1)), rng=0)
        >>> for day in range(60):  # the reading drifts by more than the signal: it does not matter
        ...     trial = opt.ask()
        ...     opt.tell(trial, -4 * (trial.x["q1"] - 0.7) ** 2 + 0.1 * day)
        >>> best = opt.recommend()
        >>> round(best.x["q1"], 1), best.readings
        (0.7, 60)
    """

    def __init__(
        self,
        space: Domain,
        *,
        kernel: Kernel | None = None,
        policy: Policy | None = None,
        reduction: Reduction | None = None,
        offset: Offset | None = None,
        likelihood: Likelihood | None = None,
        confidence: Confidence | None = None,
        regularizer: float | None = None,
        posterior: Posterior | LearnedModel | None = None,
        start: Any = None,
        drop: float | None = None,
        max_step: Any = None,
        design: int | None = None,
        minimize: bool = False,
        objective: str | None = None,
        limits: Sequence[str] | None = None,
        safe: bool = False,
        seeds: Any = None,
        max_gap: float | None = None,
        block: str | None = None,
        rng: Seed | Streams = None,
        log: str | os.PathLike[str] | Journal | None = None,
    ) -> None:
        given = locals()  # every part is an argument of the same name
        setup = Setup.of(space, {name: given[name] for name in PARTS})
        self._session = Session(setup, rng if isinstance(rng, Streams) else Streams(rng))
        if log is not None:
            self._session.write_to(log, setup.settings())
        if block is not None:
            self.begin_block(block)

    @classmethod
    def open(
        cls,
        path: str | os.PathLike[str],
        space: Domain,
        *,
        block: str | None = None,
        rng: Seed | Streams = None,
        **parts: Any,
    ) -> Optimizer:
        """Return the study of a file: a new one where there is none, else the one that is there, if it is the same.

        Args:
            path: The log.
            space: Where points lie; it must be that of the log.
            block: To which block what is told from now on belongs.
            rng: Seed of a new study.
            **parts: Other arguments of `Optimizer`; they must be those of the log.

        Example:
            >>> import tempfile, equipoise as eq
            >>> path = os.path.join(tempfile.mkdtemp(), "study.jsonl")
            >>> for _ in range(2):  # the same line begins a study and goes on with it
            ...     opt = eq.Optimizer.open(path, eq.Space(q1=eq.Float(0, 1)))
            ...     opt.tell(opt.ask(), 0.83)
            >>> opt.readings
            2
        """
        from equipoise.optimizer.resuming import opened

        return opened(path, space, block, rng, parts)

    @property
    def study(self) -> Study:
        """What is looked at, or changed, less often: the log, open trials, notes, settings, the past, the setup."""
        from equipoise.study import Study

        return Study(self._session)

    @property
    def posterior(self) -> Posterior:
        """The posterior of f that answers, given everything told; immutable. See `study.belief` for its model."""
        return self._session.state.belief.posterior

    @property
    def readings(self) -> int:
        """How many readings were told."""
        return self._session.state.readings

    @overload
    def ask(self, *, worker: str | None = None, context: Mapping[str, Any] | None = None) -> Trial: ...

    @overload
    def ask(self, *, n: int, worker: str | None = None, context: Mapping[str, Any] | None = None) -> list[Trial]: ...

    def ask(
        self, *, n: int | None = None, worker: str | None = None, context: Mapping[str, Any] | None = None
    ) -> Trial | list[Trial]:
        """Return what to measure next.

        Args:
            n: How many trials, as a list, to be measured in this order; a single one, not in a list, by default.
            worker: Who will measure. Both halves of a pair go to one worker, so that an offset of its own cancels.
            context: The present value of each `Context` of the space. The second half of a pair need not be given one:
                it has that of the first. If it has changed in between, that half is measured where it is now.
        """
        if worker is not None and not isinstance(worker, str):
            raise TypeError(f"`worker` must be a name, got {worker!r}")
        trials = self._session.ask(worker, context, 1 if n is None else check.count("n", n))
        return trials[0] if n is None else trials

    def tell(
        self,
        trial: Trial | Pair | int,
        value: Any = None,
        *,
        x: Any = None,
        time: float | None = None,
        error: float | None = None,
        block: str | None = None,
        covariates: Mapping[str, float] | None = None,
        judge: str | None = None,
        missing: Sequence[str] = (),
        failed: str | None = None,
        refit: bool = True,
    ) -> tuple[Warning, ...] | None:
        """Report the reading of a trial, or which setting of a pair is better, or that there is no answer.

        Args:
            trial: The trial or pair, or its id.
            value: The reading: a number; or what the `likelihood` of the study takes, such as (17, 200); or a number
                for each name of `objective` and `limits`. Of a pair one of `pair.answers`; or a number, how much better
                the first is, in the judge's own unit.
            x: Where it was really measured, if that is not where it should have been.
            time: When it was measured, in any unit; compared with `max_gap`.
            error: The reading's own standard error, 0 by default: the larger, the less it counts.
            block: To which block it belongs, if that is not the present one.
            covariates: What was measured beside it, by name: what the offset may depend on. It need not be the same
                each time.
            judge: Who judged the pair, if that is not who was asked.
            missing: The names of `objective` and `limits` of which there is no number this time.
            failed: Instead of a value: why there is none. The duel is given up, with a `DuelGivenUp` warning; a pair is
                skipped.
            refit: Whether to fit the model where a reading makes that due. If not, it is left to `study.refit`, which
                another thread may call: until then the belief learns under the fit before.

        Returns:
            What you should know of it, such as a `DuelGivenUp`: the warnings that it gives. `None` if there are none.
        """
        if (value is None) == (failed is None):
            raise ValueError(f"exactly one of `value` and `failed` must be given, got {value!r} and {failed!r}")
        i, planned = number_of(trial), trial.x if isinstance(trial, Trial) else None
        if failed is not None:
            return self._session.request(lambda requests: requests.fail(i, str(failed), planned)) or None
        said = GivenAnswer(value, x, time, error, block, covariates, judge, missing)
        return self._session.request(lambda requests: requests.tell(i, said, planned, refit)) or None

    def recommend(
        self,
        *,
        weights: Mapping[str, float] | None = None,
        prefer: str | None = None,
        context: Mapping[str, Any] | None = None,
    ) -> Recommendation:
        """Return the best setting as far as is known, and what is claimed of it, on which ground.

        Args:
            weights: With several objectives, how much is wanted of each, by name: the setting of the `front` with the
                largest gains in this proportion. As much of each by default.
            prefer: Instead, the objective in which that setting is best.
            context: The value of each `Context` of the space: the setting that is best there, and the claims are about
                all settings there. By default the context asked for last; `x` names it.
        """
        return self._session.recommend(context, weights, prefer)

    def __repr__(self) -> str:
        counted = f"{self.readings} reading{'' if self.readings == 1 else 's'}, {len(self.study.open_trials)} open"
        return f"<Optimizer of {self.space!r} by {self.study.setup.policy!r}: {counted}>"

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_session": copy.copy(self._session)}  # one history, one writer: a copy has its own

    def _repr_html_(self) -> str:
        from equipoise.answer import as_html

        unknown = self._session.look(lambda state: state.latest is None) and bool(self.space.contexts)
        return f"<p>{escape(repr(self))}</p>{'' if unknown else as_html(self.recommend())}"
