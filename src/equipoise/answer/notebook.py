"""A recommendation as a notebook shows it."""

from collections.abc import Mapping
from html import escape
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from equipoise.answer.recommendation import Recommendation


def as_html(best: "Recommendation") -> str:
    """Return a table of the setting, and below it what is claimed of it; all text is escaped.

    Example:
        >>> from equipoise.answer import Recommendation
        >>> print(as_html(Recommendation({"lens": "<in>"}, 0.04, 12)))
        <table><tr><th>lens</th><td>&lt;in&gt;</td></tr></table><p>By estimate, nothing ...<br>After 12 readings.</p>
    """
    cells = [(escape(str(name)), escape(_short(value))) for name, value in _named(best.x)]
    rows = "".join(f"<tr><th>{name}</th><td>{value}</td></tr>" for name, value in cells)
    lines = [str(claim) for claim in best.claims or (best.overall,)]
    if best.against_start is not None:
        lines.append(f"Better than the start by {best.against_start}.")
    lines.append(f"After {best.readings} readings.")
    return f"<table>{rows}</table><p>{'<br>'.join(map(escape, lines))}</p>"


def _named(x: Any) -> list[tuple[str, Any]]:
    return list(x.items()) if isinstance(x, Mapping) else [(f"x[{i}]", value) for i, value in enumerate(x)]


def _short(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)
