"""The text panels: the best setting with its claims, the trials, the notes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from equipoise.answer import gained, grounds, planned, preferences
from equipoise.optimizer import Optimizer
from equipoise.spaces import Float, Int, Space, printable, settings
from equipoise.study import Note, Record, Setting, unit_of
from equipoise.web.forms import on_button
from equipoise.web.known import PagePanel, View, in_sentences
from equipoise.web.now import answer_of, clock, dials

MOST_ROWS = 80
"""Maximum number of trials on the screen, newest first; the CSV has all."""

MOST_NOTES = 8
"""Maximum number of notes on the screen, newest first."""

NAMES = {"pause": "paused"}
"""Labels of modes in the list of notes, if they differ from the name of the mode."""


@dataclass(frozen=True)
class Row:
    """A trial or a pair in the list.

    Attributes:
        trial: Its number.
        duel: The number of its duel.
        when: The time when it was answered, failed or handed out.
        x: Its setting, one text per knob.
        values: The reading, one text per number; empty if there is none.
        state: Its status, in words.
        strange: Whether it needs attention.
    """

    trial: int
    duel: int
    when: str
    x: tuple[str, ...]
    values: tuple[str, ...]
    state: str
    strange: bool


def described(record: Record, blind: bool = False) -> str:
    """Return the status of a question, in words."""
    if record.failed is not None:
        return f"{'failed' if record.steps is None else 'skipped'}: {record.failed}"
    if answer_of(record) is None:
        return "open" if record.worker is None else f"open, {record.worker}"
    if record.steps is not None:
        return _judged(record, blind)
    if record.aside is not None:
        return f"set aside: {record.aside}"
    return "its pair was given up" if record.void else "told"


def questions(opt: Optimizer) -> list[Record]:
    """Return all trials and all judged or skipped pairs, the newest first."""
    pairs = [each for each in opt.records(judgements=True) if each.answer is not None or each.failed is not None]
    return sorted([*opt.records(), *pairs], key=lambda record: -record.trial)


def _row(opt: Optimizer, record: Record, blind: bool) -> Row:
    hidden = blind or record.steps is not None
    where = () if hidden else tuple(dial.value for dial in dials(opt.space, record.x))
    strange = record.failed is not None or record.aside is not None
    when, state = clock(record.ended or record.asked), printable(described(record, blind), "")
    return Row(record.trial, record.duel, when, where, _read(record, opt.study.setup.columns), state, strange)


def _read(record: Record, names: Sequence[str]) -> tuple[str, ...]:
    """Return the numbers of a reading with six digits, in the order of their names."""
    told = record.told
    if names:
        return tuple(f"{told[name]:.6g}" if told and name in told else "" for name in names)
    return (f"{told:.6g}" if isinstance(told, float) else record.said,)


def _judged(record: Record, blind: bool) -> str:
    """Return a judgement in words, with the differences between its settings unless they are hidden."""
    said = on_button(record.answer or 0.0)
    first, second = map(settings, record.x)
    differ = {} if blind else {name: (a, second[name]) for name, a in first.items() if a != second[name]}
    where = ", ".join(f"{name} {_short(a)} | {_short(b)}" for name, (a, b) in differ.items())
    return f"{said}  ({where})" if where else said


def _short(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _noted(notes: Sequence[Note], changed: Sequence[Setting]) -> list[tuple[str, str]]:
    """Return notes, changes of mode and widened ranges with their times, the newest first; not the unit."""
    said = [(note.at or "", note.topic, note.text) for note in notes]
    said += [(each.at or "", _set(each), each.why) for each in changed if each.name != "unit"]
    newest = sorted(said, key=lambda each: each[0])[::-1]
    return [(clock(at or None), printable(f"{topic}: {text}" if text else topic, "")) for at, topic, text in newest]


def _set(setting: Setting) -> str:
    """Return a change of setup, in words."""
    return NAMES.get(setting.value, setting.value) if setting.name == "mode" else f"{setting.name}: {setting.value}"


def _best(view: View) -> Mapping[str, Any]:
    best, plan = view.best, view.opt.study.plan
    return {
        "told": view.told,
        "anything": view.answers > 0,
        "blind": view.blind,
        "setting": () if view.blind else dials(view.opt.space, best.x, view.start),
        "kind": best.overall.kind if len(best.claims) == 1 else best.kind,
        "claims": (*grounds(best), *preferences(best, view.blind)),
        "against_start": gained(best),
        "clear": best.compromise is None and best.against_start is not None and best.against_start.clear,
        "plan": "" if plan is None else planned(plan.purpose, plan.duels, plan.told, plan.left),
        "truth": revealed(view),
        "notices": in_sentences(best.notices),
        "limits": () if view.blind else at_limits(view),
        "widens": view.opt.study.setup.learned,
    }


def at_limits(view: View) -> list[str]:
    """Return the knobs whose best value is at a limit of their range: a better one may lie beyond."""
    parameters = view.opt.space.parameters if isinstance(view.opt.space, Space) and view.answers else {}
    numbers = {name: p for name, p in parameters.items() if isinstance(p, (Float, Int))}
    return [printable(name, "") for name, p in numbers.items() if view.best.x[name] in (p.low, p.high)]


def _trials(view: View) -> Mapping[str, Any]:
    opt, last = view.opt, None if view.several else view.opt.study.last_answered
    asked, knobs = questions(opt), () if view.blind else dials(opt.space, view.best.x)
    found = [_row(opt, record, view.blind) for record in asked[:MOST_ROWS]]
    undo = next((_row(opt, record, view.blind) for record in asked if record.trial == last), None)
    first, *others = opt.study.setup.columns or ("Reading",)
    named = [(printable(first, ""), unit_of(opt.study.settings)), *((printable(name, ""), "") for name in others)]
    outputs = [] if view.only_judged else named
    return {"knobs": knobs, "outputs": outputs, "rows": found, "undo": undo}


def revealed(view: View) -> str:
    """Return the true f in a sentence, if it is known and the budget is spent."""
    truth, budget = view.goal.truth, view.goal.readings
    if truth is None or budget is None or view.answers < budget:
        return ""
    best, first = truth(view.best.x), truth(view.start)
    said = f"The truth: without drift and noise the best setting reads {best:.3g} {view.unit}, the start {first:.3g}"
    known = view.best.against_start
    held = known is not None and known.low <= best - first <= known.high
    return f"{said}. The interval of the gain {'contains' if held else 'misses'} the true one, {best - first:.3g}."


BEST = PagePanel(
    "best",
    """Best so far <small>after {{ told }}</small>
{% if anything %}<span class="badge kind-{{ kind }}">{{ kind }}</span>{% endif %}""",
    _best,
    "best.html",
    scrolls=True,
)
TRIALS = PagePanel(
    "trials",
    """Trials
{% if operator and undo %}
{% set said = undo.values | select | join(", ") %}
<form method="post" action="./"><input type="hidden" name="trial" value="{{ undo.trial }}">
<button id="undo" name="do" value="undo">Undo trial {{ undo.trial }}{{ ": " ~ said if said }}</button>
</form>
{% endif %}""",
    _trials,
    "trials.html",
    help="pair",
)
NOTES = PagePanel(
    "notes",
    "Notes",
    lambda view: {"notes": _noted(view.opt.study.notes, view.opt.study.settings)[:MOST_NOTES]},
    """<ul class="scroll" id="notes" tabindex="0" role="list" aria-label="Notes">
{% for at, text in notes %}<li><time>{{ at }}</time> {{ text }}</li>{% else %}<li>None.</li>{% endfor %}
</ul>""",
)
