"""Imported answers, blocks, and corrections of answers."""

from __future__ import annotations

from abc import ABC
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from equipoise import study
from equipoise.likelihoods import DEFAULT_STEPS
from equipoise.study import GivenAnswer, number_of

if TYPE_CHECKING:
    from equipoise.data import Trial
    from equipoise.likelihoods import Pair
    from equipoise.study import Session


class Revisable(ABC):
    """A study that imports answers, and whose answers can be corrected and withdrawn."""

    _session: Session

    def add(
        self,
        x: Any,
        value: Any,
        *,
        time: float | None = None,
        error: float | None = None,
        block: str | None = None,
        covariates: Mapping[str, float] | None = None,
        missing: Sequence[str] = (),
        against: Any = None,
        judge: str | None = None,
        steps: int = DEFAULT_STEPS,
        seed: Any = None,
    ) -> int:
        """Add an answer that the study did not ask for; return its number, by which it can be corrected.

        A reading of another block than the present one belongs to an earlier campaign with an independent offset. The
        study ignores it, with a warning, if it contradicts present readings. `coin_test` and `verify` ignore added
        judgements.

        Args:
            x: The measured setting; for a judgement the setting in the first place.
            value: The reading; or the judgement.
            time: As for `tell`.
            error: As for `tell`.
            block: As for `tell`.
            covariates: As for `tell`.
            missing: As for `tell`.
            against: The other setting of a judgement.
            judge: Who judged.
            steps: The scale of the judgement.
            seed: Its seed, in a study with seeds; the study may use it again.

        Example:
            >>> import equipoise as eq
            >>> opt = eq.Optimizer(eq.Finite(["espresso", "filter"]), rng=0)
            >>> opt.add("filter", 41.7, block="last year"), opt.readings  # of this campaign
            (0, 0)
            >>> opt.add("filter", "first", against="espresso", judge="anna", steps=2)
            1
        """
        said = GivenAnswer(value, x, time, error, block, covariates, judge, missing)
        return study.add(self._session, [study.Addition(said, against, steps, seed)])[0]

    def begin_block(self, name: str) -> None:
        """Begin a block, such as a day, a batch or a shift, for all further readings.

        Each block has its own level of the offset and its own effect on the settings. Many readings of one day never
        claim the certainty that only several days can give.

        Args:
            name: The block. The present block continues if it has this name.
        """
        self._session.request(lambda requests: study.begun(requests, name))

    def correct(
        self,
        trial: Trial | Pair | int,
        value: Any,
        *,
        x: Any = None,
        time: float | None = None,
        error: float | None = None,
        missing: Sequence[str] = (),
    ) -> None:
        """Replace a reading, or a judgement; the study is then as if the new value had been told at first.

        Args:
            trial: The trial or pair, or its id.
            value: The reading, or the answer.
            x: The setting that was really measured; as before by default.
            time: When it was measured; as told before by default.
            error: The reading's own standard error; as told before by default.
            missing: The names without a number.
        """
        i, said = number_of(trial), GivenAnswer(value, x, time, error, missing=missing)
        self._session.request(lambda requests: study.corrected(requests, i, said))

    def retract(self, trial: Trial | Pair | int) -> None:
        """Withdraw the answer to a trial or pair: it is open again."""
        i = number_of(trial)
        self._session.request(lambda requests: study.retracted(requests, i))

    def undo(self) -> int:
        """Take back the last step and return its trial or pair; a further call takes back the step before.

        - After `tell`, also of a failure, the trial or pair is open again.
        - After `add` the answer does not count any more.
        - After `correct` the former reading or answer is valid again.
        - After `retract` the withdrawn answer is valid again: a reading that was asked for is now the last one.

        Asks, notes, blocks and plans are not steps: they stay.

        Raises:
            RuntimeError: There is no step left; or a retracted trial is no longer open.

        Example:
            >>> import equipoise as eq
            >>> opt = eq.Optimizer(eq.Space(q1=eq.Float(0, 1)), rng=0)
            >>> opt.tell(opt.ask(), 0.5)
            >>> opt.correct(0, 0.7)
            >>> opt.undo(), opt.records()[0].value, opt.study.open_trials
            (0, 0.5, ())
            >>> opt.undo(), opt.records()[0].value, opt.study.open_trials
            (0, None, (0,))
        """
        return study.undo(self._session)
