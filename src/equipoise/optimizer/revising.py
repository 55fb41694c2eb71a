"""What can be taken back: readings and judgements are corrected and retracted, and the last step is undone."""

from abc import ABC
from collections.abc import Sequence
from typing import Any

from equipoise.data import Trial
from equipoise.likelihoods import Pair
from equipoise.study import GivenAnswer, Session, corrected, number_of, retracted, undo


class Revisable(ABC):
    """A study whose answers can be corrected and taken back."""

    _session: Session

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
        self._session.request(lambda requests: corrected(requests, i, said))

    def retract(self, trial: Trial | Pair | int) -> None:
        """Take back what was told of a trial or pair, as if it had not been: it is open again."""
        i = number_of(trial)
        self._session.request(lambda requests: retracted(requests, i))

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
        return undo(self._session)
