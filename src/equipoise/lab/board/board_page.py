"""The board as a static page: one HTML file with its pictures embedded."""

import io
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

import numpy as np

from equipoise.lab.board.catalog import ABSENT
from equipoise.lab.board.runs import Score
from equipoise.lab.board.standings import LEGEND, in_order, regret_table, standings, standings_table
from equipoise.lab.board.tasks import KINDS, tasks
from equipoise.plots import METHODS, pyplot

COLUMNS = 4
"""The number of pictures in a row."""

OTHERS = ("#88CCEE", "#DDCC77", "#CC6677", "#661100", "#6699CC", "#AA4466", "#4477AA", "#228833", "#CCBB44")
"""Paul Tol's colors, for learners without a color in the style."""

STYLE = """.board table { border-collapse: collapse; margin: 1em 0; display: block; overflow-x: auto; font-size: .85em }
.board :is(td, th) { padding: .2em .4em; border-bottom: 1px solid #8884; text-align: right; white-space: nowrap }
.board :is(td, th):first-child { text-align: left }
.board .curves { overflow-x: auto } .board svg { width: 100%; min-width: 700px; height: auto }"""
"""The look of the fragment: tables and pictures wider than the page scroll by themselves."""

BODY = "body { font: 15px/1.5 sans-serif; max-width: 1200px; margin: 2em auto; padding: 0 1em; color: #222 }"
"""The look of the whole page."""


def page(scores: Sequence[Score]) -> str:
    """Return the whole page.

    Example:
        >>> from equipoise.lab.board.runs import stored
        >>> page(stored()).startswith("<!doctype html>")
        True
    """
    head = f'<meta charset="utf-8"><meta name="viewport" content="width=device-width"><style>{BODY}</style>'
    head += "<title>The board</title>"
    body = f"<h1>The board</h1>\n{fragment(scores)}"
    return f"<!doctype html>\n<html lang=en><head>{head}</head><body>{body}</body></html>\n"


def fragment(scores: Sequence[Score]) -> str:
    """Return the tables and pictures as an HTML fragment, for a page of the documentation."""
    parts = [f'<div class="board">\n<style>{STYLE}</style>', f"<p>{escape(LEGEND)}</p>"]
    for kind in KINDS:
        own = [score for score in scores if tasks()[score.task].kind == kind]
        if own:
            tables = html_table(standings_table(standings(scores, kind))), html_table(regret_table(scores, kind))
            parts += [f"<h2>{escape(kind.capitalize())}</h2>", tables[0], curves(own), tables[1]]
    packages = sorted({name for score in scores for name in (f"equipoise {score.version}", score.package) if name})
    parts.append(f"<p>Versions: {escape(', '.join(packages))}.</p>")
    absent = "; ".join(f"{name}: {why}" for name, why in ABSENT.items())
    parts.append(f"<p>Not on the board: {escape(absent)}.</p>\n</div>")
    return "\n".join(parts) + "\n"


def html_table(text: str) -> str:
    """Return a Markdown table as HTML.

    Example:
        >>> from equipoise.lab.experiments import markdown
        >>> html_table(markdown(["a", "b"], [["1", "2"]]))
        '<table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr></table>'
    """
    head, _, *body = ([cell.strip() for cell in line.strip("|").split("|")] for line in text.strip().splitlines())
    rows = [_cells("th", head), *(_cells("td", row) for row in body)]
    return "<table>" + "".join(f"<tr>{row}</tr>" for row in rows) + "</table>"


def _cells(tag: str, cells: Sequence[str]) -> str:
    return "".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in cells)


def curves(scores: Sequence[Score]) -> str:
    """Return a picture as SVG: one panel per task, with the mean cumulative regret of each learner during the run."""
    names = [name for name in tasks() if any(score.task == name for score in scores)]
    learners = in_order({score.learner for score in scores})
    colors = _colors(learners)
    plt, rows = pyplot(), -(-len(names) // COLUMNS)
    with plt.rc_context({"font.size": 9, "svg.hashsalt": "board", "svg.fonttype": "none"}):
        size = (3.2 * COLUMNS, 2.3 * rows + 0.5)
        canvas, axes = plt.subplots(rows, COLUMNS, figsize=size, squeeze=False, layout="constrained")
        for ax in axes.flat[len(names) :]:
            ax.set_visible(False)
        for ax, name in zip(axes.flat, names, strict=False):
            _panel(ax, name, {each: _of(scores, name, each) for each in learners}, colors)
        handles = [plt.Line2D([], [], color=colors[each], label=each) for each in learners]
        canvas.legend(handles=handles, loc="outside lower center", ncols=6, frameon=False)
        canvas.supylabel("cumulative regret")
        text = io.StringIO()
        canvas.savefig(text, format="svg", metadata={"Date": None})
        plt.close(canvas)
    return f'<div class="curves">{text.getvalue()[text.getvalue().index("<svg") :]}</div>'


def _of(scores: Sequence[Score], task: str, learner: str) -> list[Score]:
    return [score for score in scores if (score.task, score.learner) == (task, learner)]


def _colors(learners: Sequence[str]) -> Mapping[str, str]:
    free = [name for name in learners if name not in METHODS]
    return {**METHODS, **{name: OTHERS[i % len(OTHERS)] for i, name in enumerate(free)}}


def _panel(ax: Any, name: str, runs: Mapping[str, Sequence[Score]], colors: Mapping[str, str]) -> None:
    for learner, own in runs.items():
        if own:
            mean = np.mean([score.paid for score in own], axis=0)
            at = own[0].readings * np.arange(1, len(mean) + 1) / len(mean)
            ax.plot(at, mean, color=colors[learner], linewidth=1.8 if learner == "default" else 1.0)
    ax.set_title(name, fontsize=9)
    ax.spines[["top", "right"]].set_visible(False)
    ax.set_ylim(0, None)
