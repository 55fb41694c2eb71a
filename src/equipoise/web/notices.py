"""What the user should know, on the page: in sentences."""

from collections.abc import Iterable

from equipoise.spaces import printable


def in_sentences(notices: Iterable[Warning]) -> list[str]:
    """Return what the user should know as the page shows it.

    Example:
        >>> in_sentences([UserWarning("duel 3 given up")])
        ['Duel 3 given up']
    """
    texts = (printable(str(notice), "") for notice in notices)
    return [text[:1].upper() + text[1:] for text in texts]


def unheard(notice: Warning) -> None:
    """Let a notice be: whoever makes the change shows what it returns."""
