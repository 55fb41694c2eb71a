"""The lessons of a reading about the outputs besides the first objective, if a trial has several numbers."""

from collections.abc import Sequence

from equipoise.data import Reading, teaches
from equipoise.log import Added, Told
from equipoise.study.changes.trials import Preparation
from equipoise.study.ledger import Entry
from equipoise.study.outputs import Taught, of_output


def learned_beside(
    on: Preparation,
    event: Told | Added,
    entry: Entry,
    readings: Sequence[Reading | None],
    before: Sequence[Reading | None],
    comparable: bool,
) -> Taught | None:
    """Return the lessons of a reading about the outputs besides the first objective; `None` if there are none.

    `readings` and `before` are the informative readings of the question with and without the new one, `None` for each
    that is missing.
    """
    setup, course, lessons = on.state.setup, on.state.beside, {}
    if course is None:
        return None
    for name, law in setup.laws.items():
        known = [of_output(reading, name) for reading in before] if law.learns_readings else []
        now = [of_output(reading, name) for reading in readings]
        number, sign = float(entry.number), setup.signs[name]
        taught = teaches(entry.duel, now, law, number=number, sign=sign, comparable=comparable) if readings else ()
        lessons[name] = taught[len(known) - known.count(None) :]
    return course.after(lessons, {} if event.fit is None else event.fit.beside, on.later)
