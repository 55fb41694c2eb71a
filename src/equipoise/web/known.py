"""The view of a study: computed panel by panel, once after each change.

It has a separate optimizer, so that users who enter readings never wait for charts.
"""

import os
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache, cached_property
from pathlib import Path
from typing import Any, cast
from urllib.parse import quote

import numpy as np
from jinja2 import Environment, PackageLoader, StrictUndefined, Template

from equipoise.answer import Recommendation, counted, gained
from equipoise.log import LogError
from equipoise.optimizer import Optimizer, resume
from equipoise.plots import series
from equipoise.spaces import Space, dials, printable, readouts_of
from equipoise.study import Record, last_set
from equipoise.web.means import Target

PAST_BOUNDS = 12
"""Number of earlier points at which the certificate of an older study is recomputed in the background."""

LISTED = 6
"""Number of knobs of the best setting in the list of studies."""

TEMPLATES = Environment(
    loader=PackageLoader("equipoise.web"), autoescape=True, undefined=StrictUndefined, trim_blocks=True
)
TEMPLATES.filters["path"] = lambda name: quote(name, safe="")


@dataclass(frozen=True)
class View:
    """A study as panels see it.

    Attributes:
        opt: The study, which panels must not change.
        best: Its recommendation.
        start: The setting of the start; `None` if it is unknown.
        bounds: The certificate over time, by number of answers.
        blind: Whether settings are hidden from judges.
        several: Whether several people judge, each with a separate undo.
        goal: The goal of the study.
    """

    opt: Optimizer
    best: Recommendation
    start: Any = None
    bounds: Mapping[int, float] = field(default_factory=dict)
    blind: bool = False
    several: bool = False
    goal: Target = field(default_factory=Target)

    @property
    def answers(self) -> int:
        """Number of readings and judgements."""
        return self.best.readings + self.best.judgements

    @property
    def told(self) -> str:
        """Number of readings and judgements, in words."""
        return counted(self.best.readings, self.best.judgements)

    @property
    def only_judged(self) -> bool:
        """True if the study has judgements and no readings."""
        return self.best.judgements > 0 and not self.best.readings

    @property
    def limited(self) -> bool:
        """True if outputs have limits, which charts of f do not show."""
        outputs = self.opt.study.setup.outputs
        return outputs is not None and bool(outputs.limits)

    @property
    def unit(self) -> str:
        """The unit of f, short enough for an axis."""
        return self.best.unit.split()[0] if self.only_judged else self.best.unit


LATELY = 12
"""Number of recent answers that determine who measures."""


@dataclass(frozen=True)
class Outline:
    """A study in one line of a list.

    Attributes:
        told: The number of answers, in words.
        last: The time of the last answer, in local time.
        best: The best setting, in words.
        gain: Its comparison with the start, in a sentence.
        who: The people or programs that measure or judge.
        trouble: The reason why the view is missing.
    """

    told: str = ""
    last: str = ""
    best: str = ""
    gain: str = ""
    who: str = ""
    trouble: str = ""

    @classmethod
    def of(cls, opt: Optimizer, best: Recommendation) -> "Outline":
        """Return the outline of a study, given its recommendation."""
        asked = [record for judged in (False, True) for record in opt.records(aside=False, judgements=judged)]
        done = sorted((record for record in asked if record.ended), key=lambda record: record.ended or "")[-LATELY:]
        who = ", ".join(dict.fromkeys(printable(record.worker, "") for record in done[::-1] if record.worker))
        mode = last_set(opt.study.settings, "mode")
        who = "paused" if mode is not None and mode.value == "pause" else who
        told = best.readings + best.judgements
        knobs = [str(dial) for dial in dials(readouts_of(opt.space), best.x)] if told else []
        if len(knobs) > LISTED:
            knobs[LISTED:] = [f"{len(knobs) - LISTED} more"]
        setting = ", ".join(knobs)
        gain = gained(best) if told else ""
        return cls(counted(best.readings, best.judgements), day(done[-1].ended if done else None), setting, gain, who)


@dataclass(frozen=True)
class PagePanel:
    """A part of the screen that shows results.

    Attributes:
        name: Its name, a CSS class; a panel without a place in `page.css` appears below the others.
        title: Its heading: HTML, as `html`.
        shows: Takes a `View`; returns the template values of its HTML. It is called once after each change.
        html: Its HTML, a Jinja template; or the name of one, such as "trials.html". It can use the values of `shows`,
            and `operator`: whether an operator looks. Text is escaped, so that no text of a study runs as a script.
        applies: Takes a `View`; returns whether the panel is shown.
        scrolls: Whether the whole panel scrolls, so that the keyboard must reach it.
        help: The word that explains it on the help page.

    Example:
        >>> panel = PagePanel("told", "Told", lambda view: {"told": view.told}, "<p>{{ told }}</p>")
        >>> print(panel.drawn({"told": "1 < 2"}))
        <section class="panel told" aria-labelledby="told-title">
        <h2 id="told-title">Told</h2>
        <p>1 &lt; 2</p>
        </section>
    """

    name: str
    title: str
    shows: Callable[[View], Mapping[str, Any]]
    html: str
    applies: Callable[[View], bool] = lambda view: True
    scrolls: bool = False
    help: str = ""

    def drawn(self, shown: Mapping[str, Any], operator: bool = False) -> str:
        """Return its HTML for the given values."""
        title, body = (_template(text).render(shown, operator=operator) for text in (self.title, self.html))
        reached = f' id="{self.name}" tabindex="0"' if self.scrolls else ""
        labeled = f'class="panel {self.name}"{reached} aria-labelledby="{self.name}-title"'
        link = f'<a class="help" id="{self.name}-help" href="/help#{self.help}">?'
        asked = f'{link}<span class="spoken"> {self.help}</span></a>' if self.help else ""
        return f'<section {labeled}>\n{asked}<h2 id="{self.name}-title">{title}</h2>\n{body}\n</section>'


@cache
def _template(text: str) -> Template:
    return TEMPLATES.get_template(text) if text.endswith(".html") else TEMPLATES.from_string(text)


@dataclass(frozen=True)
class Known:
    """The view of a study.

    Attributes:
        version: A fingerprint: it differs if the view does.
        told: The number of answers, in words.
        outline: The study in one line of a list.
        shown: The template values of each panel.
    """

    version: str
    told: str
    outline: Outline
    shown: tuple[tuple[PagePanel, Mapping[str, Any]], ...]
    _html: dict[bool, str] = field(default_factory=dict)

    def __getitem__(self, name: str) -> Mapping[str, Any]:
        """Return the template values of a panel."""
        return next(shown for panel, shown in self.shown if panel.name == name)

    def html(self, operator: bool) -> str:
        """Return all panels, made once for operators and once for watchers.

        Focusable elements have an id: they keep the focus when this part is fetched again.
        """
        if operator not in self._html:
            drawn = "\n".join(panel.drawn(shown, operator) for panel, shown in self.shown)
            self._html[operator] = f'<div id="known" data-version="{self.version}">\n{drawn}\n</div>'
        return self._html[operator]


class _Still:
    """A snapshot of a study, whose records are made once for all panels."""

    def __init__(self, opt: Optimizer) -> None:
        self._opt = opt
        self._kept: dict[tuple[bool, bool], list[Record]] = {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._opt, name)

    def records(self, *, aside: bool = True, judgements: bool = False) -> list[Record]:
        """Return every trial, or every pair."""
        if (aside, judgements) not in self._kept:
            self._kept[aside, judgements] = self._opt.records(aside=aside, judgements=judgements)
        return self._kept[aside, judgements]


class Viewer:
    """An object that computes the view of a study, once after each change.

    Args:
        path: Its log.
        panels: The panels to compute.
        blind: Whether settings are hidden.
        several: Whether several people judge, each with a separate undo.
        goal: The goal of the study.

    Attributes:
        revision: A counter that grows when more of the past certificate is known, although the log is unchanged.
    """

    def __init__(self, path: Path, panels: Sequence[PagePanel], blind: bool, several: bool, goal: Target) -> None:
        self._path, self._panels, self._blind, self._several, self._goal = path, panels, blind, several, goal
        self.revision = 0
        self._lock = threading.Lock()
        self._followed = 0  # bytes of the log that were read at least
        self._known: Known | None = None
        self._view: View | None = None
        self._bounds: dict[int, float] = {}
        threading.Thread(target=self._look_back, daemon=True).start()

    @cached_property
    def _opt(self) -> Optimizer:
        return resume(self._path, notify=ignore_notice)  # the recommendation contains these notices

    def known(self) -> Known:
        """Return the view."""
        with self._lock:
            size = size_of(self._path)
            if size != self._followed:
                self._opt.study.follow()
                self._followed = size
            version = f"{self._followed}.{self.revision}"  # a change during the computation makes it out of date
            if self._known is None or self._known.version != version:
                self._known = self._made(version)
            return self._known

    def look(self, at: Callable[[View], Any]) -> Any:
        """Return the value of a function of the study in its present state."""
        self.known()
        with self._lock:
            assert self._view is not None
            return at(self._view)

    def _made(self, version: str) -> Known:
        best, opt = recommended(self._opt), cast(Optimizer, _Still(self._opt))
        self._bounds[best.readings + best.judgements] = best.overall.bound
        start = series.start_of(opt)
        view = View(opt, best, start, dict(self._bounds), self._blind, self._several, self._goal)
        self._view = view
        shown = tuple((panel, panel.shows(view)) for panel in self._panels if panel.applies(view))
        return Known(version, view.told, Outline.of(opt, best), shown)

    def _look_back(self) -> None:
        """Compute the certificate at some earlier times, with a separate optimizer."""
        try:
            past = resume(self._path, notify=ignore_notice)
        except LogError:
            return  # the log is missing: the next request reports it
        told = past.readings + past.judgements
        if told < 2:
            return
        at = np.unique(np.linspace(1, told, PAST_BOUNDS).round().astype(int)).tolist()
        bounds = {best.readings + best.judgements: best.overall.bound for best in past.study.history(at)}
        with self._lock:
            self._bounds = bounds | self._bounds
            self.revision += 1


def day(at: str | None) -> str:
    """Return the date and the time of an event in local time; empty if there is none.

    Example:
        >>> day(None), len(day("2026-11-16T02:40:11.123Z"))
        ('', 16)
    """
    return f"{datetime.fromisoformat(at).astimezone():%Y-%m-%d %H:%M}" if at else ""


def ignore_notice(notice: Warning) -> None:
    """Ignore a notice: the page shows the notices that a change returns."""


def in_sentences(notices: Iterable[Warning]) -> list[str]:
    """Return notices as the page shows them.

    Example:
        >>> in_sentences([UserWarning("duel 3 given up")])
        ['Duel 3 given up']
    """
    texts = (printable(str(notice), "") for notice in notices)
    return [text[:1].upper() + text[1:] for text in texts]


def recommended(opt: Optimizer) -> Recommendation:
    """Return the recommendation of a study; before the first question, for any context, since none was given yet."""
    given = opt.space.contexts if isinstance(opt.space, Space) else ()
    if not given or opt.records(aside=False) or opt.judgements:
        return opt.recommend()
    x = opt.space.decode(opt.space.candidates(np.random.default_rng(0))[0])
    return opt.recommend(context={name: x[name] for name in given})


def size_of(path: Path) -> int:
    """Return the size of a log in bytes: it differs if the log was extended."""
    try:
        return os.stat(path).st_size
    except OSError as error:
        raise LogError(f"{path} cannot be read: {error.strerror or error}") from error
