"""When things happened in a study, by its log."""

from pathlib import Path
from typing import Any

from equipoise.log.jsonl import Lines


def lines(study: Path) -> list[dict[str, Any]]:
    """Return the complete lines of a log, the first one left out."""
    return [content for content, _ in Lines(study).news()][1:]


def times(study: Path) -> tuple[dict[int, str], dict[int, str]]:
    """Return when each trial or pair was last handed out, and when it was told, judged or failed."""
    asked: dict[int, str] = {}
    ended: dict[int, str] = {}
    for event in lines(study):
        match event:
            case {"ask": trial, "at": at} | {"hand": trial, "at": at} | {"pair": trial, "at": at}:
                asked[trial] = at
            case {"add": trial, "at": at}:
                asked[trial] = ended[trial] = at
            case {"tell": trial, "at": at} | {"judge": trial, "at": at} | {"fail": trial, "at": at}:
                ended[trial] = at
            case {"retract": trial}:
                ended.pop(trial, None)
    return asked, ended
