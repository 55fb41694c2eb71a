"""The content that shows a setting to judges: an image, a sound, a film, a text, Markdown or JSON.

The page never runs it: text is escaped, Markdown has neither HTML nor links nor images, and the page's policy forbids
foreign scripts and files.
"""

import json
import mimetypes
import os
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from markdown_it import MarkdownIt

PLAYED = ("image", "audio", "video")
"""Kinds of files that the browser fetches."""

READ = {".txt": "text", ".md": "markdown", ".json": "json"}
"""Kinds of files whose text is on the page, by suffix."""

MOST_CHARACTERS = 20_000
"""Maximum number of characters shown of a text: nobody judges longer ones."""


@dataclass(frozen=True)
class Content:
    """The content that shows a setting.

    Attributes:
        kind: Image, audio or video, for a file; or text, Markdown or JSON; empty if there is nothing to show.
        text: The text; for Markdown, its HTML.
        lacks: The message that there is nothing to show.
        path: The file.
    """

    kind: str = ""
    text: str = ""
    lacks: str = ""
    path: Path | None = None


def of_text(text: str, kind: str = "") -> Content:
    r"""Return the content of a text; without a given kind, JSON if the text parses as JSON, else Markdown.

    Example:
        >>> of_text('{"a": 1}').text, of_text("<b> *so*").text
        ('{\n  "a": 1\n}', '<p>&lt;b&gt; <em>so</em></p>\n')
    """
    if kind in ("", "json"):
        try:
            pretty = json.dumps(json.loads(text), indent=2, ensure_ascii=False)
            return Content("json", _short(pretty))
        except ValueError:  # not JSON: shown as it is
            kind = "text" if kind else "markdown"
    return Content(kind, _rendered(_short(text)) if kind == "markdown" else _short(text))


def of_file(path: Path, folder: Path) -> Content:
    """Return the content of a file, if it can be shown and lies in a folder after links are resolved."""
    if not os.path.isfile(path) or not path.resolve().is_relative_to(folder.resolve()):  # or an invalid name
        return Content()
    kind = (mimetypes.guess_type(path.name)[0] or "").partition("/")[0]
    if path.suffix in READ:
        with open(path, encoding="utf-8", errors="replace") as file:
            return of_text(file.read(MOST_CHARACTERS + 1), READ[path.suffix])
    return Content(kind, path=path) if kind in PLAYED else Content()


def _short(text: str) -> str:
    return text if len(text) <= MOST_CHARACTERS else f"{text[:MOST_CHARACTERS]}\N{HORIZONTAL ELLIPSIS}"


def _rendered(text: str) -> str:
    """Return the HTML of Markdown; its headings are one level below those of the page."""
    markdown = _markdown()
    tokens = markdown.parse(text)
    for token in tokens:
        token.tag = "h4" if token.type.startswith("heading") else token.tag
    return str(markdown.renderer.render(tokens, markdown.options, {}))


@cache
def _markdown() -> MarkdownIt:
    return MarkdownIt("commonmark", {"html": False}).disable(["image", "link", "autolink"]).enable("table")
