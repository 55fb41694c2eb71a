"""`equipoise items`: verdicts on paired items, every format, clusters, ties, and the next items to run."""

import csv
import itertools
import json
import math
import zipfile
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binomtest

from benched import benchmark
from equipoise.answer.sequential import expected, finals, foreseen, tail
from equipoise.answer.sequential.futility import needed_lead
from equipoise.programs.gating import ItemScore, compared, next_items, scores
from invoking import invoke

items = benchmark("items")


def passed(values):
    return {f"item {i}": ItemScore(float(value)) for i, value in enumerate(values)}


# --- signs --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("pairs", [1, 6, 17, 40, 101])
def test_the_final_test_is_the_exact_one(pairs):
    for wins in range(pairs + 1):
        lead = abs(2 * wins - pairs)
        p = binomtest(wins, pairs).pvalue
        assert (lead >= needed_lead(pairs, 0.05)) == (p <= 0.05)
        assert min(2 * tail(pairs, lead), 1.0) == pytest.approx(p)


def test_what_is_foreseen_is_a_martingale():
    """All falls of eight coins: the mean of what is foreseen after each of them is what was foreseen before."""
    falls = np.array(list(itertools.product((-1, 1), repeat=8)))
    leads = falls.cumsum(axis=1)

    def upward(lead, pairs):
        return tail(8 - pairs, needed_lead(8, 0.1) - lead)

    for pairs in range(1, 9):
        assert np.mean([upward(lead, pairs) for lead in leads[:, pairs - 1]]) == pytest.approx(upward(0, 0))
    assert foreseen(-6, 6, 8, 0.1) == foreseen(6, 6, 8, 0.1) == pytest.approx(upward(6, 6))


def test_the_number_of_pairs_is_foreseen():
    low, middle, high = finals(30, 100, 1000)
    assert low < middle < high
    assert middle == pytest.approx(300, abs=15)
    assert finals(0, 10, 10) == [0, 0, 0]
    assert expected(0, 0, 0, 0.05) == 0.0


# --- verdicts -----------------------------------------------------------------------------------------------------


def test_all_items_decide():
    """As the exact test of McNemar does, at 4 %."""
    for seed in range(6):
        first, second = items.models(0.4, 300, seed)
        wins, losses = int((second > first).sum()), int((second < first).sum())
        found = compared(passed(first), passed(second))
        assert (found.wins, found.losses, found.seen, found.items) == (wins, losses, 300, 300)
        assert found.decided
        if binomtest(wins, wins + losses).pvalue <= 0.04:
            assert found.standing == ("better" if wins > losses else "worse")
        assert found.difference.value == pytest.approx(np.mean(second - first))
        assert found.difference.low <= found.difference.value <= found.difference.high


def test_models_that_do_not_differ_are_seldom_called_different_after_any_item():
    """Promised 5 %; 60 pairs of models, a look after every fourth of 120 items: more than 8 with a chance of 1e-3."""
    wrong = sum(items.items_read(0.0, 120, seed, looks=30).standing != "same" for seed in range(60))
    assert wrong <= 8


def test_a_large_difference_is_decided_early():
    runs = [items.items_read(-1.5, 600, seed, looks=20) for seed in range(8)]
    assert {run.standing for run in runs} == {run.full for run in runs} == {"worse"}
    assert np.median([run.share for run in runs]) <= 0.4


def test_ties_graded_scores_and_nothing():
    alike = compared(passed([0.5] * 20), passed([0.5] * 20))
    assert (alike.standing, alike.wins, alike.losses, alike.difference.value) == ("same", 0, 0, 0.0)
    graded = compared(passed(np.linspace(0, 0.5, 40)), passed(np.linspace(0.2, 0.7, 40)))
    assert graded.standing == "better"
    assert graded.difference.low < 0.2 + 1e-9 < graded.difference.high + 1e-6
    nothing = compared(passed([1, 0]), {})
    assert (nothing.standing, nothing.seen, nothing.items) == ("open", 0, 2)
    assert math.isnan(nothing.difference.value)


def test_a_cluster_counts_as_one():
    """Twenty questions about one passage are one item."""
    first = {f"q{i}": ItemScore(0.0, "one") for i in range(20)}
    second = {f"q{i}": ItemScore(1.0, "one") for i in range(20)}
    found = compared(first, second)
    assert (found.wins, found.seen, found.items, found.standing) == (1, 1, 1, "same")
    assert compared(passed([0] * 20), passed([1] * 20)).standing == "better"


def test_the_items_to_run_next_come_in_a_random_order_that_stays():
    first, second = passed([1] * 100), {}
    asked = next_items(first, second, 10)
    assert asked != sorted(asked)
    assert next_items(first, {item: ItemScore(1.0) for item in asked[:4]}, 6) == asked[4:]
    assert next_items(first, first, 5) == []


# --- files --------------------------------------------------------------------------------------------------------

VALUES = [1.0, 0.0, 1.0, 0.5]
LM_EVAL = [{"doc_id": i, "doc": {"passage": i // 2}, "metrics": ["acc"], "acc": v} for i, v in enumerate(VALUES)]
INSPECT = [
    {
        "id": i,
        "epoch": 1,
        "metadata": {"passage": i // 2},
        "scores": {"match": {"value": {1: "C", 0: "I", 0.5: "P"}[v]}},
    }
    for i, v in enumerate(VALUES)
]
PROMPTFOO = [{"testIdx": i, "success": v == 1.0, "score": v, "vars": {"passage": i // 2}} for i, v in enumerate(VALUES)]


def write(folder, kind):
    """A file of one kind with the four values."""
    path = folder / f"scores.{kind.split('-')[-1]}"
    if kind == "csv":
        with path.open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([("item", "score", "passage"), *((i, v, i // 2) for i, v in enumerate(VALUES))])
    elif kind == "inspect-eval":
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("header.json", "{}")
            for sample in INSPECT:
                archive.writestr(f"samples/{sample['id']}_epoch_1.json", json.dumps(sample))
    elif kind == "inspect-json":
        path.write_text(json.dumps({"status": "success", "samples": INSPECT}), encoding="utf-8")
    elif kind == "promptfoo-json":
        path.write_text(json.dumps({"results": {"version": 3, "results": PROMPTFOO}}), encoding="utf-8")
    else:
        rows = (
            LM_EVAL
            if kind == "lm-jsonl"
            else [{"id": i, "correct": v, "passage": i // 2} for i, v in enumerate(VALUES)]
        )
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


@pytest.mark.parametrize("kind", ["csv", "jsonl", "lm-jsonl", "inspect-eval", "inspect-json", "promptfoo-json"])
def test_every_format(kind, tmp_path):
    path = write(tmp_path, kind)
    found = scores(path)
    assert {item: score.value for item, score in found.items()} == {str(i): v for i, v in enumerate(VALUES)}
    assert [score.cluster for score in scores(path, cluster="passage").values()] == ["0", "0", "1", "1"]


def test_repeats_are_averaged(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text('{"id": 1, "score": true}\n\n{"id": 1, "score": "incorrect", "score": 0}\n', encoding="utf-8")
    assert scores(path)["1"].value == 0.5


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("", "must have a score"),
        ("{}\n", "must name its items"),
        ('{"id": 1}\n', "must have a score under one of"),
        ('{"id": 1, "score": "so"}\n', "must have numbers under score"),
        ("[1]\n", "line 1 must be a JSON object"),
    ],
)
def test_files_that_make_no_sense(text, rule, tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match=rule):
        scores(path)
    assert rule in invoke("items", path, path, code=1).stderr


def test_the_command(tmp_path, monkeypatch):
    """The second model runs what is asked, until it is decided."""
    monkeypatch.chdir(tmp_path)
    first, second = items.models(-1.5, 400, 1)
    rows = [json.dumps({"id": f"q{i}", "score": v}) + "\n" for i, v in enumerate(first.tolist())]
    Path("old.jsonl").write_text("".join(rows), encoding="utf-8")
    Path("new.jsonl").write_text('{"id": "q0", "score": 0}\n', encoding="utf-8")
    for _ in range(20):
        asked = invoke("items", "old.jsonl", "new.jsonl", "--ask", 40, "--json").data["ask"]
        if not asked:
            break
        with Path("new.jsonl").open("a", encoding="utf-8") as file:
            file.writelines(json.dumps({"id": item, "score": second[int(item[1:])]}) + "\n" for item in asked)
    data = invoke("items", "old.jsonl", "new.jsonl", "--json").data
    assert data["standing"] == "worse"
    assert data["seen"] < 250
    assert data["difference"][2] < 0
    assert invoke("items", "old.jsonl", "new.jsonl", "--ask", 5).stdout.startswith("The second is worse")
    assert len(invoke("items", "old.jsonl", "old.jsonl").stdout.splitlines()) == 1


def test_a_file_that_is_not_there(tmp_path):
    assert "No such file" in invoke("items", tmp_path / "a.jsonl", tmp_path / "b.jsonl", code=1).stderr
