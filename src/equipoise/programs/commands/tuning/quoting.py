"""Values in a command line for a shell: each keeps its meaning, inside and outside quotes."""

import re
import shlex

PLAIN = re.compile(r"[\w@%+=:,./-]+", re.ASCII)
"""A value that every shell reads literally."""

SIMPLE = re.compile(r"\$\{[\w#?@*!-]+\}|\$\(\([^()]*\)\)|`[^`]*`", re.ASCII)
"""Expressions that are skipped whole between places: `${HOME}`, `$((1 + 2))`, and a command in backticks."""

OBSCURE = re.compile(r"\$\{|\$\(\(|\$'|`|<<")
"""Constructs within which quotes differ between shells."""

CASE = re.compile(r"\(.*\bcase\b", re.DOTALL)
"""A `case` inside parentheses, which has unbalanced closing parentheses."""


def quoted(value: str, before: str) -> str:
    r"""Return a value quoted for its place in a command line, so that a shell reads it literally.

    Args:
        value: The value.
        before: The command line up to the place of the value. Outside of quotes the value becomes one word, or a part
            of the word it stands in; inside quotes it becomes a part of what is quoted.

    Raises:
        ValueError: The place is a comment, a here-document, backticks, `${...}`, `$((...))`, `$'...'` or behind a
            backslash or a dollar, and the value has other characters than letters, digits and `@%+=:,./-_`.

    Example:
        >>> print(*(quoted("$(ls)", before) for before in ("echo ", "echo '", 'echo "')))
        '$(ls)' ''$(ls)'' "'$(ls)'"
        >>> quoted("fast", "echo `")
        'fast'
    """
    if PLAIN.fullmatch(value):
        return value
    quotes = _quotes(before)
    if quotes is None:
        places = "in a comment, a here-document, backticks, ${...}, $((...)), $'...', or behind a backslash or a dollar"
        raise ValueError(f"{value!r} must not stand {places}: a shell may misread it")
    return quotes + shlex.quote(value) + quotes  # close the quotes, insert the value, open them again


def _quotes(text: str) -> str | None:
    """Return the open quotes at the end of a text, empty if there are none; `None` if that is unclear."""
    open_, i = [""], 0
    while i < len(text):
        now, rest = open_[-1], text[i:]
        if now == "'":
            length = rest.find("'") + 1
            if not length:
                return "'"
            open_.pop()
        elif rest[0] == "\\":
            length = 2
        elif skipped := SIMPLE.match(rest):
            length = skipped.end()
        elif OBSCURE.match(rest) and (now != '"' or not rest.startswith(("$'", "<<"))):
            return None
        elif rest[0] == "#" and now != '"' and (i == 0 or text[i - 1] in " \t\n;&|()"):
            length = rest.find("\n") + 1
            if not length:
                return None
        else:
            length = _entered(open_, rest)
        i += length
    unsure = i > len(text) or text.endswith("$") or CASE.search(text)
    return None if unsure else open_[-1].strip("(")


def _entered(open_: list[str], rest: str) -> int:
    """Record the quote or parenthesis that begins or ends here; return its length."""
    now = open_[-1]
    if rest.startswith("$(") or (rest[0] == "(" and now != '"'):
        open_.append("(")
        return 2 if rest[0] == "$" else 1
    if rest[0] == now == '"' or (rest[0] == ")" and now == "("):
        open_.pop()
    elif rest[0] == '"' or (rest[0] == "'" and now != '"'):
        open_.append(rest[0])
    return 1
