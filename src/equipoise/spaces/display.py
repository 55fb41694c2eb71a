"""A space of named parameters as a notebook shows it."""

from collections.abc import Mapping
from html import escape
from typing import Any


def as_html(parameters: Mapping[str, Any], constraint: Any) -> str:
    """Return a table of the parameters, and below it what must hold; all text is escaped.

    Example:
        >>> import equipoise as eq
        >>> print(as_html({"q<1>": eq.Float(0, 1, step=0.1)}, "q < 1"))
        <table><tr><th>q&lt;1&gt;</th><td>Float(0.0, 1.0, step=0.1)</td></tr></table><p>Constraint: q &lt; 1</p>
    """
    cells = [(escape(name), escape(repr(parameter))) for name, parameter in parameters.items()]
    table = "".join(f"<tr><th>{name}</th><td>{text}</td></tr>" for name, text in cells)
    texts = [constraint] if isinstance(constraint, str) or callable(constraint) else constraint or ()
    rules = "".join(f"<p>Constraint: {escape(str(text))}</p>" for text in texts)
    return f"<table>{table}</table>{rules}"
