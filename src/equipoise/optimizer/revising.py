"""What is told besides: answers that were not asked for, blocks; and answers that are corrected and taken back."""

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
    """A study that takes in answers it did not ask for, and whose answers can be corrected and taken back."""

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
        """Take in an answer that the study did not ask for; return its number, by which it can be corrected.

        A reading of another block than the present one is of an earlier campaign, whose offset tells nothing of now; it
        is forgotten, with a warning, if it contradicts readings of now. `coin_test` and `verify` leave judgements out.

        Args:
            x: Where it was measured; of a judgement the setting that stood in the first place.
            value: The reading; or the judgement.
            time: As for `tell`.
            error: As for `tell`.
            block: As for `tell`.
            covariates: As for `tell`.
            missing: As for `tell`.
            against: The other setting of a judgement.
            judge: Who judged.
            steps: The scale of the judgement.
            seed: Under which seed it was read, in a study with seeds: one that the study may use again.

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
        """Let all that is told from now on belong to a block: a day, a batch, a shift.

        The offset has a level for each block, and each block has some effect of its own on the settings, so that many
        readings of one day do not make sure what only several days can.

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
        """Replace a reading, or a judgement, by another: everything is as if it had been told in the first place.

        Args:
            trial: The trial or pair, or its id.
            value: The reading, or the answer.
            x: Where it was really measured; as told before by default.
            time: When it was measured; as told before by default.
            error: The reading's own standard error; as told before by default.
            missing: The names of which there is no number.
        """
        i, said = number_of(trial), GivenAnswer(value, x, time, error, missing=missing)
        self._session.request(lambda requests: study.corrected(requests, i, said))

    def retract(self, trial: Trial | Pair | int) -> None:
        """Take back what was told of a trial or pair, as if it had not been: it is open again."""
        i = number_of(trial)
        self._session.request(lambda requests: study.retracted(requests, i))

    def undo(self) -> int:
        """Take back the last step, and nothing else, and return its trial or pair; a further call takes back another.

        - After `tell`, also that there is no answer, the trial or pair is open again.
        - What `add` took in does not count any more.
        - After `correct` the former reading or answer stands again.
        - After `retract` what was taken back is told again: a reading that was asked for is the last one now.

        Asks, notes, blocks and plans are no steps: they stay.

        Raises:
            RuntimeError: Nothing is left to take back; or a trial that was retracted is not open any more.

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
