"""Scores by item from files: CSV, JSON Lines, lm-evaluation-harness, inspect and promptfoo."""

import csv
import io
import json
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from equipoise.programs.gating.items import ItemScore

ITEM_KEYS = ("item", "id", "doc_id", "question_id", "sample_id", "task_id", "testIdx", "name")
"""Keys that name an item; the first that is there."""

SCORE_KEYS = ("score", "value", "correct", "passed", "pass", "success", "acc", "exact_match", "resolved")
"""Keys that hold a score; the first that is there."""

WORDS = {"c": 1.0, "i": 0.0, "p": 0.5, "n": 0.0, "true": 1.0, "false": 0.0, "pass": 1.0, "fail": 0.0}
"""Scores that are words: those of inspect (correct, incorrect, partial, no answer), and what people write."""


def scores(path: Path, score: str | None = None, cluster: str | None = None) -> dict[str, ItemScore]:
    """Return the scores in a file, by item; repeats of an item (epochs) are averaged.

    Args:
        path: A `.csv`, a `.jsonl`, a `.json` of inspect or promptfoo, or an `.eval` of inspect.
        score: The key, column or scorer that holds the score; found by its name by default.
        cluster: The key or column that says which items belong together.
    """
    found: dict[str, list[ItemScore]] = {}
    for row in _rows(path):
        found.setdefault(_item(row, path), []).append(ItemScore(_score(row, score, path), _cluster(row, cluster, path)))
    if not found:
        raise ValueError(f"{path} must have a score for an item, but it has none")
    return {item: ItemScore(sum(s.value for s in each) / len(each), each[0].cluster) for item, each in found.items()}


def _rows(path: Path) -> Iterator[Mapping[str, Any]]:
    """Yield the row of each item in a file."""
    if path.suffix == ".eval":
        yield from _zipped(path)
        return
    text = path.read_text(encoding="utf-8-sig")
    if path.suffix == ".csv":
        yield from csv.DictReader(io.StringIO(text))
    elif path.suffix == ".json":
        yield from _listed(json.loads(text), path)
    else:
        for number, line in enumerate(text.splitlines(), 1):
            if line.strip():
                yield _line(line, path, number)


def _line(line: str, path: Path, number: int) -> Mapping[str, Any]:
    """Return a line of JSON; refuse anything else."""
    try:
        row = json.loads(line)
    except ValueError:
        row = None
    if not isinstance(row, dict):
        raise ValueError(f"{path}, line {number} must be a JSON object, got {line[:60]!r}")
    return row


def _zipped(path: Path) -> Iterator[Mapping[str, Any]]:
    """Yield the samples of an `.eval` of inspect."""
    with zipfile.ZipFile(path) as archive:
        for name in sorted(archive.namelist()):
            if name.startswith("samples/"):
                yield json.loads(archive.read(name))


def _listed(data: Any, path: Path) -> list[Mapping[str, Any]]:
    """Return the list of items in a JSON file: of inspect (`samples`), of promptfoo (`results.results`), or alone."""
    for key in ("samples", "results", "results"):
        data = data.get(key, data) if isinstance(data, dict) else data
    if not isinstance(data, list) or not all(isinstance(row, dict) for row in data):
        raise ValueError(f"{path} must hold a list of items, as inspect or promptfoo write it")
    return data


def _item(row: Mapping[str, Any], path: Path) -> str:
    """Return the name of an item."""
    key = next((key for key in ITEM_KEYS if row.get(key) not in (None, "")), None)
    if key is None:
        raise ValueError(f"{path} must name its items by one of {', '.join(ITEM_KEYS)}, got the keys {', '.join(row)}")
    return str(row[key])


def _score(row: Mapping[str, Any], key: str | None, path: Path) -> float:
    """Return the score of a row."""
    inside = row.get("scores")
    row = {**inside, **row} if isinstance(inside, dict) else row  # inspect: by scorer
    named = row.get("metrics")  # lm-evaluation-harness names its own
    known = [*([key] if key else []), *(named if isinstance(named, list) and not key else [])]
    known += [] if key else [*SCORE_KEYS, *(inside if isinstance(inside, dict) else ())]
    found = next((name for name in known if row.get(name) is not None), None)
    if found is None:
        raise ValueError(f"{path} must have a score under one of {', '.join(known)}, got the keys {', '.join(row)}")
    value = row[found]["value"] if isinstance(row[found], dict) else row[found]
    word = str(value).strip().lower()
    try:
        return WORDS[word] if word in WORDS else float(value)
    except (TypeError, ValueError):
        raise ValueError(f"{path} must have numbers under {found}, got {value!r}") from None


def _cluster(row: Mapping[str, Any], key: str | None, path: Path) -> str:
    """Return the cluster of a row, which may stand in its document, metadata or variables."""
    if key is None:
        return ""
    for place in (row, *(row.get(name) for name in ("doc", "metadata", "vars"))):
        if isinstance(place, Mapping) and place.get(key) is not None:
            return str(place[key])
    raise ValueError(f"{path} must say the {key} of every item, got the keys {', '.join(row)}")
