"""What `opt.study` shows of a study: its log, open questions, notes, settings, setup and past."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from equipoise import _validation as check
from equipoise.data import Trial
from equipoise.likelihoods import DEFAULT_STEPS
from equipoise.log import FORMER_SETTINGS, Noted, Refitted, Set, Widened
from equipoise.study import asking
from equipoise.study.amending import Addition, add, ends, expired, news
from equipoise.study.changes import last_answered
from equipoise.study.claiming import coins, history
from equipoise.study.judged_pairs import answers, due_again, reports, shown
from equipoise.study.moving import position
from equipoise.study.previewing import proposed, reproduced
from equipoise.study.session import number_of
from equipoise.study.tables import Table, columns, next_note, notes_of, records, settings_of

if TYPE_CHECKING:
    from equipoise.answer import Recommendation, Reproduction
    from equipoise.belief import StudyBelief
    from equipoise.data import Duel
    from equipoise.likelihoods import JudgeReport, Pair
    from equipoise.log import Asked, Event
    from equipoise.study.plans import Plan
    from equipoise.study.session import Session
    from equipoise.study.setup import Setup
    from equipoise.study.tables import Note, Setting


class Study:
    """What an `Optimizer` has on its `study`: what is looked at, or changed, less often than asked and told.

    Args:
        session: The study that is under way.

    Example:
        >>> import equipoise as eq
        >>> opt = eq.Optimizer(eq.Space(q1=eq.Float(0, 1)), rng=0)
        >>> trial = opt.ask()
        >>> opt.study.open_trials, opt.study.setup.minimize
        ((0,), False)
    """

    def __init__(self, session: Session) -> None:
        self._session = session

    @property
    def setup(self) -> Setup:
        """The parts that the study is made of, such as `policy`, `offset` and `minimize`."""
        return self._session.state.setup

    @property
    def notify(self) -> Callable[[Warning], object] | None:
        """A function that is called with each notice, such as a `DuelGivenUp`; `None` for a warning."""
        return self._session.notify

    @notify.setter
    def notify(self, notify: Callable[[Warning], object] | None) -> None:
        self._session.notify = notify

    @property
    def log(self) -> Path | None:
        """The file in which every event is written; `None` if the study is in memory only."""
        return None if self._session.turns.journal is None else self._session.turns.journal.path

    @property
    def block(self) -> str | None:
        """The present block; `None` where none was named."""
        return self._session.look(lambda state: state.block) or None

    @property
    def open_trials(self) -> tuple[int, ...]:
        """The trials handed out and not yet told."""
        return self._session.look(lambda state: state.ledger.open_trials)

    @property
    def open_pairs(self) -> tuple[Pair, ...]:
        """The pairs handed out and not yet judged, oldest first."""
        return self._session.look(lambda state: tuple(shown(state.ledger, i) for i in state.ledger.open_pairs))

    @property
    def plan(self) -> Plan | None:
        """The audit or verification that is under way, and how far it is; `None` if there is none."""
        return self._session.look(lambda state: state.plan)

    @property
    def last_answered(self) -> int | None:
        """The trial or pair whose last step `undo` would take back; `None` if there is none."""
        return self._session.look(lambda state: last_answered(state.done))

    @property
    def belief(self) -> StudyBelief:
        """What all answers teach under the model, and what was learned of that; immutable."""
        return self._session.look(lambda s: s.belief)

    def position(self, worker: str | None = None) -> Any:
        """Return the setting where the machine of a worker stands, by its last reading or by a note with `x` since.

        Args:
            worker: Who measures there.

        Returns:
            The setting; `None` if it is not known.
        """
        point = self._session.look(lambda state: position(state.done, state.ledger, worker))
        return None if point is None else self._session.space.decode(point)

    @property
    def notes(self) -> list[Note]:
        """What was said of the study, in this order."""
        return self._session.look(lambda state: notes_of(state.past, state.setup.space.decode))

    def note(self, topic: str, text: str = "", *, x: Any = None) -> None:
        """Write down what somebody should know of the study; nothing is learned from it.

        Args:
            topic: What it is about, in a word or two.
            text: What there is to say.
            x: The setting to which the machine was moved, if it was.

        Example:
            >>> import equipoise as eq
            >>> opt = eq.Optimizer(eq.Space(q1=eq.Float(0, 1)), rng=0)
            >>> opt.study.note("dialed in", "for the night shift", x={"q1": 0.5})
            >>> opt.study.notes
            [Note(topic='dialed in', text='for the night shift', x={'q1': 0.5})]
        """
        for name, value in (("topic", topic), ("text", text)):
            if not isinstance(value, str):
                raise TypeError(f"`{name}` must be a text, got {value!r}")
        if topic in FORMER_SETTINGS:
            raise ValueError(f"`topic` must not be that of a setting, see `set`, got {topic!r}")
        point = None if x is None else self._session.space.encode(x)
        session = self._session
        session.change(lambda: session.happen(Noted(next_note(session.state.past), topic, text, point)))

    @property
    def settings(self) -> list[Setting]:
        """The settings that were changed by `set`, in this order: the last one of a name holds."""
        return self._session.look(lambda state: settings_of(state.past))

    def set(self, name: str, value: str | tuple[float, float], why: str = "") -> None:
        """Set the unit of a reading, or who measures a study that is served; or widen the range of a number.

        In the wider space all that was told is learned again: claims are about the wider space from then on.

        Args:
            name: "unit", "mode", or the name of a number of the space.
            value: The unit; the mode: "by hand", "automatic" or "pause"; or the ends of the range.
            why: Why, for others to read.

        Example:
            >>> import equipoise as eq
            >>> opt = eq.Optimizer(eq.Space(q1=eq.Float(0, 1)), rng=0)
            >>> opt.study.set("unit", "mW")
            >>> opt.study.settings
            [Setting(name='unit', value='mW', why='')]
            >>> opt.study.set("q1", (0, 2), "the best was at the limit")
            >>> opt.space
            Space(q1=Float(0.0, 2.0))
        """
        setting = Set(name, value, why) if isinstance(value, str) else Widened(name, *ends(value), why)
        self._session.request(lambda requests: news(requests, setting))

    def judges(self) -> list[JudgeReport]:
        """Return what is known of each judge: answers, advantage of the first place, answers alike in both orders."""
        return self._session.follow(lambda state: reports(state.ledger, state.lessons.judgements.judges))

    def answers(self) -> list[tuple[Pair, str | float]]:
        """Return the pairs that were judged, in the order of judging, and what was said of each."""
        return self._session.look(lambda state: answers(state.ledger))

    def to_frame(self, *, judgements: bool = False) -> Any:
        """Return the outcome of every trial as a pandas DataFrame; `add_frame` of another study reads it.

        Args:
            judgements: Whether to return the pairs that were judged instead.

        Example:
            >>> import equipoise as eq
            >>> opt = eq.Optimizer(eq.Space(q1=eq.Float(0, 1)), rng=0)
            >>> opt.study.to_frame()[["trial", "q1", "value"]]  # doctest: +SKIP
        """
        try:
            from pandas import DataFrame
        except ImportError as error:
            raise ImportError('to_frame needs pandas: pip install "equipoise[frames]"') from error
        return DataFrame(columns(self._session.look(lambda state: records(state, judgements=judgements))))

    def add_frame(
        self,
        frame: Any,
        *,
        value: str = "value",
        block: str | None = None,
        covariates: Iterable[str] = (),
        judgements: bool = False,
    ) -> list[int]:
        """Take in readings that the study did not ask for from a table, a row each, all or none; return their numbers.

        Args:
            frame: A pandas DataFrame, with a column for each parameter. Columns called time, error and block are used
                if there are any, and seed in a study with seeds; others are not.
            value: The column of the readings.
            block: To which block all rows belong, where the table does not say.
            covariates: The columns of what else was measured.
            judgements: Whether the rows are judgements: a column answer, columns first.NAME and second.NAME for each
                parameter, and columns judge and steps if there are any; else the shortest scale that has all words
                is taken. Rows without an answer are left out.

        Example:
            >>> import equipoise as eq, pandas as pd  # doctest: +SKIP
            >>> opt.study.add_frame(pd.read_csv("old.csv"), value="yield", block="2025")  # doctest: +SKIP
        """
        rows = [{str(name): cell for name, cell in row.items()} for row in frame.to_dict("records")]
        how = {"value": value, "covariates": tuple(covariates), "block": block, "judgements": judgements}
        how |= {"outputs": self.setup.columns, "seeds": self.setup.seeds is not None}
        table = Table.of(self._session.space, list(map(str, frame.columns)), rows, **how)
        found = [row for row in map(table.read, rows) if row is not None]
        return add(self._session, map(Addition.of, found))

    def next_pair(
        self,
        *,
        judge: str = "",
        steps: int = DEFAULT_STEPS,
        check_every: int = 0,
        lag: int = 1,
        context: Mapping[str, Any] | None = None,
    ) -> Pair:
        """Return the pair that a judge has left open; else one that is due to be asked again; else a new one.

        Args:
            judge: Who will judge.
            steps: The scale of the answers.
            check_every: Each time this number of new pairs was judged, one of them is asked again in the other order;
                0 for never. `judges` says what comes of it.
            lag: Which one: 1 for the last; who remembers pairs should be asked an earlier one, up to `check_every`.
            context: The present value of each `Context` of the space.
        """
        check.count("check_every", check_every, at_least=0)
        if check.count("lag", lag) > max(check_every, 1):
            raise ValueError(f"`lag` must be at most `check_every`, {check_every}, got {lag}")
        for pair in self.open_pairs:
            if pair.judge == judge:
                return pair
        due = self._session.look(lambda state: due_again(state.ledger, judge, check_every, lag))
        return asking.ask_pair(self._session, context, judge, steps, due)

    def follow(self) -> None:
        """Learn what other processes have written to the log since; `ask`, `tell` and `recommend` do so themselves."""
        self._session.follow(lambda _: None)

    def refit(self) -> bool:
        """Make the fit that `tell(..., refit=False)` has deferred; return whether there was one to make.

        Other threads may ask and tell while it is made. If a reading is corrected or taken back meanwhile, or somebody
        else makes a later fit, it is dropped: call it again.

        Example:
            >>> import equipoise as eq
            >>> opt = eq.Optimizer(eq.Space(q1=eq.Float(0, 1)), rng=0)
            >>> for day in range(6):
            ...     trial = opt.ask()
            ...     opt.tell(trial, -4 * (trial.x["q1"] - 0.7) ** 2 + 0.1 * day, refit=False)
            >>> opt.study.refit(), opt.study.refit()
            (True, False)
        """
        session = self._session
        due = session.follow(lambda state: state.lessons.overdue)
        if due is None:
            return False
        fit = due.made()

        def taken_up() -> None:
            if session.state.lessons.awaits(due):
                session.happen(Refitted(due.lessons, fit))

        session.change(taken_up)
        return True

    def expire(self, trial: Trial | int) -> None:
        """Take back a trial whose worker is lost: the next `ask` of that worker hands it out again."""
        i, planned = number_of(trial), trial.x if isinstance(trial, Trial) else None
        self._session.request(lambda requests: expired(requests, i, planned))

    def propose(self, *, context: Mapping[str, Any] | None = None) -> Duel:
        """Return the duel that the next `ask` would begin if no trial were waiting; nothing happens.

        Args:
            context: The value of each `Context` of the space.
        """
        return proposed(self._session, context)

    def reproduces(self, event: Asked) -> Reproduction:
        """Return whether a duel or a pair of a log is the one that would be handed out now; nothing happens.

        Args:
            event: The event by which it was handed out, where the study stood as this one does.
        """
        return reproduced(self._session, event)

    def replay(self, event: Event) -> None:
        """Let an event happen that is written elsewhere; nothing is written."""
        self._session.look(lambda state: state.apply(event))

    def history(self, readings: Iterable[int], *, context: Mapping[str, Any] | None = None) -> list[Recommendation]:
        """Return what `recommend` would have said after fewer readings and judgements; costs as much as a replay.

        Args:
            readings: Numbers of readings and judgements, ascending.
            context: As for `recommend`.
        """
        wanted, session = set(readings), self._session
        with session.calmly():
            return session.look(lambda state: history(session.claims(context), state, wanted))

    def coin_test(self, draws: int = 9999) -> float:
        """Return the p-value of "no two settings differ": an exact test of a study, with no model at all.

        In each duel the order was random. If no settings differed, then what was expected to win, by what was known
        before, would have won by the coin alone. The smaller the number, the less coins explain it.

        Args:
            draws: How often the coins are thrown again.
        """
        check.count("draws", draws, at_least=1)
        return self._session.follow(lambda state: coins(state, self._session.streams, draws))
