"""`opt.study`: the log, open questions, notes, settings, setup and history of a study."""

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
    """The less common operations of an `Optimizer`, as its attribute `study`.

    Args:
        session: The running study.

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
        """A function to call with each notice, such as a `DuelGivenUp`; `None` for a warning."""
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
        """The present block; `None` if there is none."""
        return self._session.look(lambda state: state.block) or None

    @property
    def open_trials(self) -> tuple[int, ...]:
        """The open trials."""
        return self._session.look(lambda state: state.ledger.open_trials)

    @property
    def open_pairs(self) -> tuple[Pair, ...]:
        """The open pairs, oldest first."""
        return self._session.look(lambda state: tuple(shown(state.ledger, i) for i in state.ledger.open_pairs))

    @property
    def plan(self) -> Plan | None:
        """The present audit or verification, with its progress; `None` if there is none."""
        return self._session.look(lambda state: state.plan)

    @property
    def last_answered(self) -> int | None:
        """The trial or pair whose last step `undo` would take back; `None` if there is none."""
        return self._session.look(lambda state: last_answered(state.done))

    @property
    def belief(self) -> StudyBelief:
        """The belief given all answers, with its fitted model; immutable."""
        return self._session.look(lambda s: s.belief)

    def position(self, worker: str | None = None) -> Any:
        """Return the setting of a worker's machine, by its last reading or a later note with `x`.

        Args:
            worker: The worker.

        Returns:
            The setting; `None` if it is not known.
        """
        point = self._session.look(lambda state: position(state.done, state.ledger, worker))
        return None if point is None else self._session.space.decode(point)

    @property
    def notes(self) -> list[Note]:
        """The notes on the study, in their order."""
        return self._session.look(lambda state: notes_of(state.past, state.setup.space.decode))

    def note(self, topic: str, text: str = "", *, x: Any = None) -> None:
        """Add a note to the study, which learns nothing from it.

        Args:
            topic: The topic, in a word or two.
            text: The text.
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
        """The changes made by `set`, in order; the last one of a name is valid."""
        return self._session.look(lambda state: settings_of(state.past))

    def set(self, name: str, value: str | tuple[float, float], why: str = "") -> None:
        """Set the unit of a reading or the mode of the page, or widen the range of a number.

        After a range grows, the study learns all data again, and its claims are about the wider space.

        Args:
            name: "unit", "mode", or the name of a number of the space.
            value: The unit; the mode: "by hand", "automatic" or "pause"; or the ends of the range.
            why: The reason, for other people.

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
        """Return a report on each judge: answers, advantage of the first place, agreement in both orders."""
        return self._session.follow(lambda state: reports(state.ledger, state.lessons.judgements.judges))

    def answers(self) -> list[tuple[Pair, str | float]]:
        """Return the judged pairs with their answers, in the order of judging."""
        return self._session.look(lambda state: answers(state.ledger))

    def to_frame(self, *, judgements: bool = False) -> Any:
        """Return the outcome of every trial as a pandas DataFrame; `add_frame` of another study reads it.

        Args:
            judgements: Return the judged pairs instead.

        Example:
            >>> import equipoise as eq
            >>> opt = eq.Optimizer(eq.Space(q1=eq.Float(0, 1)), rng=0)
            >>> opt.study.to_frame()[["trial", "q1", "value"]]  # doctest: +SKIP
        """
        return _frames("to_frame")(
            columns(self._session.look(lambda state: records(state, judgements=judgements)), self.setup.columns)
        )

    def add_frame(
        self,
        frame: Any,
        *,
        value: str = "value",
        block: str | None = None,
        covariates: Iterable[str] = (),
        judgements: bool = False,
    ) -> list[int]:
        """Add the readings of a table, one per row, all or none; return their numbers.

        Args:
            frame: A pandas DataFrame, with a column for each parameter. The study uses columns called time, error and
                block, and seed if it has seeds, but no others.
            value: The column of the readings.
            block: The block of rows that do not name one.
            covariates: The columns of covariates.
            judgements: Whether the rows are judgements: a column answer, columns first.NAME and second.NAME for each
                parameter, and optional columns judge and steps; the default scale is the shortest one with all words.
                Rows without an answer are skipped.

        Example:
            >>> import equipoise as eq, pandas as pd  # doctest: +SKIP
            >>> opt.study.add_frame(pd.read_csv("old.csv"), value="yield", block="2025")  # doctest: +SKIP
        """
        if not isinstance(frame, _frames("add_frame")):
            raise TypeError(f"`frame` must be a pandas DataFrame, got {frame!r}")
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
        """Return the open pair of a judge; else one that is due in the other order; else a new one.

        Args:
            judge: The judge.
            steps: The scale of the answers.
            check_every: After each such number of new pairs, ask one of them again in the other order; 0 for never.
                `judges` has the result.
            lag: Which one: 1 for the last. If the judge remembers pairs, ask an earlier one, up to `check_every`.
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
        """Learn the new events of other processes from the log; `ask`, `tell` and `recommend` do so too."""
        self._session.follow(lambda _: None)

    def refit(self) -> bool:
        """Make the fit that `tell(..., refit=False)` has deferred; return whether there was one.

        Other threads may ask and tell meanwhile. If a reading is corrected or withdrawn, or another process makes a
        later fit, this one is dropped: call `refit` again.

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
        """Return the duel that the next `ask` would begin if no trial were waiting; the study does not change.

        Args:
            context: The value of each `Context` of the space.
        """
        return proposed(self._session, context)

    def reproduces(self, event: Asked) -> Reproduction:
        """Return whether a logged duel or pair equals the one proposed now; the study does not change.

        Args:
            event: The event of the duel or pair, when the study had the present state.
        """
        return reproduced(self._session, event)

    def replay(self, event: Event) -> None:
        """Let an event happen that is written elsewhere; nothing is written."""
        self._session.look(lambda state: state.apply(event))

    def history(self, readings: Iterable[int], *, context: Mapping[str, Any] | None = None) -> list[Recommendation]:
        """Return the recommendations after fewer readings and judgements; takes as long as a replay.

        Args:
            readings: Numbers of readings and judgements, ascending.
            context: As for `recommend`.
        """
        if not isinstance(readings, Iterable):
            raise TypeError(f"`readings` must be numbers of readings, such as [10, 20], got {readings!r}")
        wanted = {check.count("readings", number, at_least=0) for number in readings}
        session = self._session
        with session.calmly():
            return session.look(lambda state: history(session.claims(context), state, wanted))

    def coin_test(self, draws: int = 9999) -> float:
        """Return the p-value of "no two settings differ": an exact test of a study, with no model at all.

        The order in each duel was random. If no settings differed, the expected winner of each duel, by the data before
        it, would have won by the coin alone. The smaller the p-value, the less the coins explain the wins.

        Args:
            draws: How often the coins are tossed again.
        """
        check.count("draws", draws, at_least=1)
        return self._session.follow(lambda state: coins(state, self._session.streams, draws))


def _frames(method: str) -> Any:
    """Return the class of data frames, which a method needs."""
    try:
        from pandas import DataFrame
    except ImportError as error:
        raise ImportError(f'{method} needs pandas: pip install "equipoise[frames]"') from error
    return DataFrame
