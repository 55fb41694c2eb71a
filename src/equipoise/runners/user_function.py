"""The user's function: it is called for each question until the study has enough answers."""

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from equipoise.answer import Recommendation
from equipoise.data import Trial
from equipoise.likelihoods import Pair
from equipoise.study import Record, Study

Failures = tuple[type[Exception], ...]


class Asking(Protocol):
    """The part of an `Optimizer` that the loop needs."""

    @property
    def readings(self) -> int:
        """The number of readings."""
        ...

    @property
    def judgements(self) -> int:
        """The number of judgements."""
        ...

    @property
    def study(self) -> Study:
        """The less common commands."""
        ...

    def recommend(self, *, context: Mapping[str, Any] | None = None) -> Recommendation:
        """Return the best setting under the present belief."""
        ...

    def audit(self, duels: int = 24, *, context: Mapping[str, Any] | None = None) -> object:
        """Plan an audit."""
        ...

    def ask(self, *, worker: str | None = None, context: Mapping[str, Any] | None = None) -> Trial:
        """Return the next trial."""
        ...

    def records(self, *, aside: bool, trials: Iterable[int]) -> list[Record]:
        """Return the records of some trials."""
        ...

    def tell(
        self,
        trial: Trial | Pair,
        value: Any = None,
        *,
        x: Any = None,
        block: str | None = None,
        failed: str | None = None,
    ) -> object:
        """Tell an answer."""
        ...


def taken(trial: Trial) -> tuple[Any, ...]:
    """Return the arguments of the user's function for a trial: the setting, and the seed if there is one."""
    return (trial.x,) if trial.seed is None else (trial.x, trial.seed)


def check_takes_seed(measure: Callable[..., Any]) -> None:
    """Refuse a function that does not take a seed besides the setting."""
    try:
        inspect.signature(measure).bind("setting", "seed")
    except ValueError:  # a built-in function without a signature
        return
    except TypeError as error:
        raise TypeError(f"`measure` must take a setting and a seed in a study with seeds: {error}") from error


def reason(problem: Exception) -> str:
    """Return the reason why there is no reading."""
    return str(problem) or type(problem).__name__


@dataclass(frozen=True)
class UserFunction:
    """A loop that answers the questions of a study.

    Attributes:
        opt: The study.
        measure: Takes a setting, and the seed if there are seeds, and returns its reading; or takes both settings of a
            pair and returns a judgement, or `None`.
        failures: Exceptions that mean that there is no answer; others are passed on. A refused answer raises one too.
        context: The value of each context, or a function that returns the present ones.
        pairs: The arguments of `Study.next_pair`.
    """

    opt: Asking
    measure: Callable[..., Any]
    failures: Failures
    context: Mapping[str, Any] | Callable[[], Mapping[str, Any]] | None
    pairs: Mapping[str, Any]

    def run(
        self, kind: Literal["readings", "judgements"], wanted: int, reached: Callable[[], bool] = lambda: False
    ) -> None:
        """Answer until the study has a given number of readings or judgements, or has reached its bound."""
        from tqdm import tqdm

        with tqdm(total=wanted, initial=getattr(self.opt, kind), unit=kind.removesuffix("s"), disable=None) as bar:
            while getattr(self.opt, kind) < wanted and not reached():
                context = self.context() if callable(self.context) else self.context
                if kind == "readings":
                    trial = self.opt.ask(context=context)
                    self._answer(trial, *taken(trial))
                else:
                    pair = self.opt.study.next_pair(context=context, **self.pairs)
                    self._answer(pair, pair.first, pair.second)
                bar.update(getattr(self.opt, kind) - bar.n)

    def _answer(self, question: Trial | Pair, *given: Any) -> None:
        """Answer a question, given settings and perhaps a seed.

        After any other exception, its trial is requeued, and a pair stays open; also if the study refuses the answer.
        """
        try:
            value = self.measure(*given)
            unsure = value is None and isinstance(question, Pair)
            self.opt.tell(question, value, failed="can't tell" if unsure else None)
        except self.failures as problem:
            self.opt.tell(question, failed=reason(problem))
        except BaseException:
            if isinstance(question, Trial) and question.id in self.opt.study.open_trials:
                self.opt.study.expire(question)
            raise
