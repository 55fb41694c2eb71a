"""The ask/tell shell around policy, reduction and belief. It is the only mutable object and does no mathematics."""

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


class Optimizer(Judging, Looping, Revisable, Answerable):
    """Optimize what you measure, by comparing: ask, measure, tell, repeat.

    With only a space, the study learns the kernel, the noise and the parameters of the offset from the readings. With a
    `kernel` it learns only f, as in the paper. Every part is an object that you can replace. Several threads may call
    `ask` and `tell`; several trials may be open at once, and you may tell them in any order.

    Args:
        space: Where points lie: `Space`, `Box` or `Finite`.
        kernel: Prior covariance of f on encoded points; learned by default.
        policy: The rule that proposes settings; `Challenger()` by default.
        reduction: The rule that measures a proposal; by default that of the policy.
        offset: What is assumed of the bias: `Tracked()` by default, `Arbitrary()` with a `kernel` or for duels of a
            single reading.
        likelihood: How a reading depends on f: `Gaussian()` by default, a number; `likelihoods.Poisson()`, a count;
            `likelihoods.Binomial()`, successes and trials.
        confidence: Confidence coefficient; two standard deviations by default, with a `kernel` a fixed 1.
        regularizer: Variance given to the noise of an outcome; learned by default, with a `kernel` 1.
        posterior: The belief before any data, if the arguments above cannot express it.
        start: The present setting, with its context if the space has contexts. It is in the first duel, and claims
            compare with it too.
        drop: Ask for no setting that may be worse than `start` by more than this, under a cautious model.
        max_step: By how much a parameter may differ at most from one reading to the next, from `start` on: by name for
            a `Space`, else one number or one for each coordinate.
        design: How many points, spread over the space, to measure first; by default a number that depends on the
            dimension if the model is learned, else none. Further ones follow at times. 0 for neither.
        minimize: Look for the smallest value instead of the largest.
        objective: The name of the number to maximize, if a trial has several: "flux"; or to minimize, "-size"; or
            several, "flux, -size", see `front`.
        limits: Limits such as "loss <= 3", or "size <= start + 1", in which any offset cancels. The study looks for the
            best setting that holds all limits.
        safe: Ask only for settings that hold all limits under a cautious model, from a `start` that holds them.
        seeds: Give each trial a seed, `trial.seed`: `True` for 0, 1, 2 and so on; or a list of seeds, folds, instances
            or scenarios. Both settings of a pair have the same seed, and claims are about the mean over seeds.
        block: To which block, such as a day or a batch, the readings belong; see `begin_block`.
        max_gap: Do not use a pair whose halves are further apart in time than this.
        rng: Seed, generator or `Streams`; the same one and the same answers give the same run.
        log: A new file in which every event is written before it counts; `resume` rebuilds the optimizer from it, also
            in other processes, which may work on it together. Or your own `Journal`, which is continued. By default,
            and for copies, the study is only in memory.

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
        """Return the study of a file: a new one if there is none, else the existing one, if its parts are the same.

        Args:
            path: The log.
            space: Where points lie; it must be that of the log.
            block: The block of all readings from now on.
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
            worker: Who will measure. Both halves of a pair go to one worker, so that its own offset cancels.
            context: The present value of each `Context` of the space. For the second half of a pair it may be missing;
                it is then that of the first. If the context has changed in between, give the new one.
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
            value: The reading: a number; or a value for the `likelihood` of the study, such as (17, 200); or a number
                for each name of `objective` and `limits`. For a pair one of `pair.answers`; or a number, how much
                better the first is, in the judge's own unit.
            x: The setting that was really measured, if it is not the requested one.
            time: When it was measured, in any unit; compared with `max_gap`.
            error: The reading's own standard error, 0 by default: the larger, the less it counts.
            block: To which block it belongs, if that is not the present one.
            covariates: Other measured quantities, by name, on which the offset may depend. They may differ from reading
                to reading.
            judge: The judge of the pair, if another one than was asked.
            missing: The names of `objective` and `limits` without a number this time.
            failed: The reason why there is no value. The study does not use the duel, and gives a `DuelGivenUp`
                warning; it skips a pair.
            refit: Fit the model if it is due. With False, `study.refit` fits it later, perhaps in another thread; until
                then the belief learns under the previous fit.

        Returns:
            The warning that the answer gives, such as a `DuelGivenUp`; `None` if there is none.
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
        """Return the best known setting, with claims about it and their basis.

        Args:
            weights: With several objectives, a weight for each, by name: the setting of the `front` with the largest
                gains in this proportion. Equal by default.
            prefer: Instead, the objective in which that setting is best.
            context: The value of each `Context` of the space: the best setting there, with claims about all settings
                there. By default the context of the last `ask`; `x` has it.
        """
        return self._session.recommend(context, weights, prefer)

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_session": copy.copy(self._session)}  # one history, one writer: a copy has its own

    def _repr_html_(self) -> str:
        from equipoise.answer import as_html

        unknown = self._session.look(lambda state: state.latest is None) and bool(self.space.contexts)
        return f"<p>{escape(repr(self))}</p>{'' if unknown else as_html(self.recommend())}"
