"""The loop of asking, measuring and telling, for a function that measures."""

from __future__ import annotations

from abc import ABC
from collections.abc import Callable, Mapping
from concurrent.futures import Executor
from typing import TYPE_CHECKING, Any

from equipoise import _validation as check
from equipoise.likelihoods import DEFAULT_STEPS

if TYPE_CHECKING:
    from typing import Protocol

    from equipoise.answer import Recommendation
    from equipoise.runners import Asking
    from equipoise.study import Session

    class Optimizing(Asking, Protocol):
        """The optimizer in the loop."""

        _session: Session


class Looping(ABC):
    """A study that calls a measuring function, and says when it is done."""

    _session: Session

    def done(self: Optimizing, eps: float, *, audit: bool = True, context: Mapping[str, Any] | None = None) -> bool:
        """Return whether no setting is better than the recommended one by more than `eps`: the certificate.

        Args:
            eps: The bound to reach.
            audit: Require a theorem or an audit, see `audit`; else an estimate is enough.
            context: As for `recommend`.
        """
        return self.recommend(context=context).certifies(check.positive("eps", eps), audit=audit)

    def run(
        self: Optimizing,
        measure: Callable[..., Any],
        readings: int | None = None,
        *,
        judgements: int | None = None,
        eps: float | None = None,
        failures: tuple[type[Exception], ...] = (),
        context: Mapping[str, Any] | Callable[[], Mapping[str, Any]] | None = None,
        judge: str = "",
        steps: int = DEFAULT_STEPS,
        check_every: int = 5,
        executor: Executor | None = None,
        workers: int | None = None,
        timeout: float | None = None,
        blocks: bool | None = None,
    ) -> Recommendation:
        """Measure, or judge, until the study has a given number of answers; return the recommendation.

        Ctrl-C, or an error in your function, loses nothing: its trial waits again, and the next `run` continues.

        Args:
            measure: Takes a setting, and the seed in a study with seeds, and returns its reading. With `judgements` it
                takes the first and the second setting of a pair and returns an answer, or `None` if it cannot tell.
            readings: The number of readings at which the study ends.
            judgements: Instead, the number of judgements.
            eps: Stop once audits confirm that nothing is better by more; else a `BoundMissed` warning gives the reason.
            failures: Exceptions of `measure` that mean that there is no answer; others are passed on. An answer that is
                refused, such as NaN, is a `ValueError`.
            context: The value of each `Context` of the space; or a function that returns the present one, called before
                each question.
            judge: As for `ask_pair`.
            steps: As for `ask_pair`.
            check_every: After each such number of new pairs, ask the last one again in the other order; 0 for never.
                `study.judges` has the result.
            executor: Measures several duels at once, each by one of its workers: processes, threads, a dask cluster.
            workers: The number of its workers, if the executor does not know it.
            timeout: Seconds allowed for each reading; later, another worker measures it again.
            blocks: Whether each worker has its own offset: its readings then belong to a block with its name. Give
                `False` only if none has: then two workers measure a pair at once, and half as many pairs are open.

        Example:
            >>> import equipoise as eq
            >>> opt = eq.Optimizer(eq.Space(q1=eq.Float(0, 1)), rng=0)
            >>> best = opt.run(lambda x: -4 * (x["q1"] - 0.7) ** 2, readings=40)
            >>> round(best.x["q1"], 1), best.kind
            (0.7, 'estimate')
        """
        from equipoise.runners import OnExecutor, Reaching, UserFunction, check_takes_seed, places

        if not callable(measure):
            raise TypeError(f"`measure` must be a function, got {measure!r}")
        if readings is not None and self.study.setup.seeds is not None:
            check_takes_seed(measure)
        if (readings is None) == (judgements is None):
            raise ValueError(f"exactly one of `readings` and `judgements` must be given, got {readings}, {judgements}")
        if executor is not None and readings is None:
            raise ValueError("`executor` must come with `readings`: judgements are asked one after the other")
        if eps is not None and readings is None:
            raise ValueError(f"`eps` must come with `readings`, since audits are measured, got {eps}")
        pairs = {"judge": judge, "steps": steps, "check_every": check_every}
        function = UserFunction(self, measure, failures, context, pairs)
        goal = Reaching(self, eps, readings, context=None if callable(context) else context)
        if executor is not None:
            crew = OnExecutor(self, executor, measure, places(executor, workers), failures, context, timeout, blocks)
            crew.run(check.count("readings", readings), goal.reached)
        elif any(given is not None for given in (workers, timeout, blocks)):
            raise ValueError("`workers`, `timeout` and `blocks` are of an `executor`, got no executor")
        elif readings is not None:
            function.run("readings", check.count("readings", readings), goal.reached)
        else:
            function.run("judgements", check.count("judgements", judgements))
        self._session.deliver(goal.notices())
        return self.recommend()
