"""The progress of a study: the gain without the drift, the budget, the rate, the expected end."""

import math
from collections.abc import Sequence
from datetime import datetime, timedelta
from itertools import pairwise
from statistics import median

from equipoise.answer import amount, counted, expected
from equipoise.plots import series
from equipoise.spaces import labeled
from equipoise.study import Record
from equipoise.web.known import PagePanel, View
from equipoise.web.panels.svg import Chart, around

RECENT = 12
"""Number of readings whose intervals give the rate; their median ignores a lunch break."""


def progress_chart(view: View) -> str:
    """Return a chart of each reading's gain over the start, without drift; empty without readings."""
    if view.start is None or not view.best.readings:
        return ""
    found, known = series.progress(view.opt, view.best, view.start), view.best.against_start
    last = len(series.readings_of(view.opt)) + 1
    gains, line = (list(zip(found.number.tolist(), each.tolist(), strict=True)) for each in (found.gain, found.best))
    ends = [] if known is None or math.isinf(known.low) else [known.low, known.high]
    now = [] if known is None else [(float(last), known.value)]
    chart = Chart.of((0.5, last + 0.5), around([0.0, *ends, *(value for _, value in (*gains, *line, *now))]))
    parts = [
        chart.level(0.0, "axis"),
        chart.dots(gains, "reading"),
        chart.line(_steps(line), "estimate"),
        chart.line([(last, end) for end in ends], "whisker"),
        chart.dots(now, "leader", 4.5),
    ]
    says = f"{len(gains)} readings with the drift taken out, against the start; up is better."
    return chart.drawn(parts, "reading", labeled(f"{series.objective_of(view.opt)} better by".strip(), view.unit), says)


def _steps(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """Return points joined by steps: a value holds until the next one."""
    turns = [corner for (_, y), (x, up) in pairwise(points) for corner in ((x, y), (x, up))]
    return [*points[:1], *turns]


def seconds_each(records: Sequence[Record]) -> float | None:
    """Return the median of the seconds between recent readings; `None` if unknown."""
    at = sorted(datetime.fromisoformat(record.ended) for record in records if record.ended)[-RECENT:]
    return median((b - a).total_seconds() for a, b in pairwise(at)) if len(at) > 2 else None


def remaining(view: View) -> list[str]:
    """Return the progress in sentences: the share of the budget, the rate, the expected end, the required bound."""
    goal, said, bound = view.goal, list[str](), list[str]()
    answers = view.opt.records(judgements=view.only_judged, aside=False)
    told = [record for record in answers if record.ended and record.failed is None]
    each = seconds_each(told)
    left = 0 if goal.readings is None else max(goal.readings - view.answers, 0)
    if goal.readings is not None:
        said.append(f"{view.answers} of {goal.readings}" + ("" if left else ", all of the budget"))
    if each:
        said.append(_rate(each))
    if left and each:
        last = max(datetime.fromisoformat(record.ended) for record in told if record.ended)
        said.append(f"{counted(left)} left, until about {_until(last + timedelta(seconds=left * each))}")
    elif left:
        said.append(f"{counted(left)} left")
    if goal.eps is not None:
        bound = [_bound(view, goal.eps, None if goal.readings is None else left)]
    return [*(["; ".join(said) + "."] if said else []), *bound]


def _bound(view: View, eps: float, left: int | None) -> str:
    """Return in a sentence whether the required bound is reached, or when that is expected."""
    if view.best.certifies(eps, audit=view.goal.audit):
        return f"The bound of {amount(eps, view.unit)} is reached."
    return expected(view.best, eps, left)


def _rate(seconds: float) -> str:
    """Return the rate of readings in words.

    Example:
        >>> _rate(30.0), _rate(90.0), _rate(4000.0), _rate(0.25), _rate(0.0081)
        ('2 a minute', 'one in 1.5 min', 'one in 1.1 h', '4 a second', '123 a second')
    """
    if seconds >= 60:
        return f"one in {seconds / 60:.2g} min" if seconds < 3600 else f"one in {seconds / 3600:.2g} h"
    times, unit = (1 / seconds, "second") if seconds <= 1 else (60 / seconds, "minute")
    return f"{times:.2g} a {unit}" if times < 99.5 else f"{times:.0f} a {unit}"


def _until(when: datetime) -> str:
    """Return a time of day, with the date if it is not today."""
    local, now = when.astimezone(), datetime.now().astimezone()
    return local.strftime("%H:%M" if local.date() == now.date() else "%a %d %b %H:%M")


PROGRESS = PagePanel(
    "progress",
    """Progress {% if chart %}<small><span class="key reading">●</span> reading without drift
<span class="key estimate">━</span> best so far <span class="key leader">●</span> recommended</small>{% endif %}""",
    lambda view: {"chart": progress_chart(view), "far": remaining(view), "judged": view.only_judged},
    """{% if far %}<p class="far">{{ far | join(" ") }}</p>{% endif %}
{% if chart %}{{ chart | safe }}
{% else %}<p class="none">{{ "There is no curve for judgements." if judged
else "Nothing was read yet." }}</p>{% endif %}""",
)
