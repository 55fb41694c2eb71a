"""The calibration of bounds: its quantile regression, its table, and whether it holds on a family that was left out."""

import json
import math

import numpy as np
import pytest
from click.testing import CliRunner

from benched import benchmark
from equipoise.answer import calibration

calibrate = benchmark("calibrate")
from calibrating import FAMILIES, OFFSETS, collect, fitted, jobs, stored, study  # noqa: E402 - the benchmark finds them
from calibrating.quantiles import SIGNS, pinball, weighted_quantile  # noqa: E402

LEFT_OUT = "levy"


def test_quantile_regression_finds_a_conditional_quantile():
    rng = np.random.default_rng(0)
    x = rng.uniform(size=4000)
    y = 1.0 + 2.0 * x + rng.normal(size=4000)
    w = pinball(np.stack([np.ones(4000), x], axis=1), y, np.full(4000, 1 / 4000))
    assert w == pytest.approx([1.0 + 1.645, 2.0], abs=0.3)
    assert weighted_quantile(np.array([1.0, 2.0]), np.array([0.99, 0.01]), 0.95) == 1.0


def test_each_family_has_a_top_that_nothing_exceeds():
    points = np.random.default_rng(0)
    for name, family in FAMILIES.items():
        f = family.make(name, 3)
        assert f.dimension in family.dimensions
        assert f(points.random((500, f.dimension))).max() <= f.maximum + 1e-9


def test_the_table_comes_from_families_that_may_be_chosen_on():
    rule = calibration()
    assert len(rule.families) >= 12
    assert all(FAMILIES[name].chosen and not FAMILIES[name].needle for name in rule.families)
    assert LEFT_OUT not in rule.families
    assert set(rule.weights) == {"", *SIGNS}
    assert rule.studies > 500


def test_the_bound_holds_and_falls_on_a_family_that_was_left_out():
    looks = [study(LEFT_OUT, offset, 900) for offset in ("none", "walk", "blocks")]
    last = [rows[-1] for rows in looks]
    assert {row["readings"] for row in last} == {200}
    held = [row["regret"] <= row["bound"] for rows in looks for row in rows]
    assert np.mean(held) >= 0.85
    at_20 = [row["bound"] for rows in looks for row in rows if row["readings"] == 20]
    assert np.median([row["bound"] for row in last]) < 0.6 * np.median(at_20)


def simulated(names, rng):
    """Rows as of studies, by the signs that a fit needs; the regret is half the pivot, but for chance."""
    for name in names:
        for seed in range(8):
            for n in (60, 100):
                q, d = math.exp(rng.normal()), (2, 6)[seed % 2]
                signs = {"pivot": math.log(q), "readings": math.log(n), "knobs": math.log(d), "unsure": rng.normal()}
                signs |= {key: rng.normal() for key in ("bold", "gained", "near", "noise", "holes")}
                row = {"family": name, "offset": "none", "seed": seed, "knobs": d, "noise": 0.1, "kind": "estimate"}
                row |= {"readings": n, "audited": 0, "regret": 0.5 * q * math.exp(0.3 * rng.normal()), "bound": q}
                yield row | {"signs": signs}


def test_a_fit_finds_the_multiplier_and_the_command_writes_it(tmp_path):
    rows, table = tmp_path / "rows.jsonl", tmp_path / "table.json"
    found = list(simulated([name for name, family in FAMILIES.items() if family.chosen], np.random.default_rng(0)))
    rows.write_text("".join(json.dumps(row) + "\n" for row in found))
    content = fitted(found)
    assert sorted(content["families"]) == content["families"]
    said = CliRunner().invoke(calibrate.claims, ["--rows", str(rows), "--fit", str(table)])
    assert said.exit_code == 0, said.output
    assert json.loads(table.read_text()) == content
    assert "| 2 to 4 knobs" in said.output
    held = float(said.output.split("| all ")[1].split("|")[1].split("%")[0])
    assert held >= 85


def test_what_was_simulated_is_not_simulated_again(tmp_path):
    path, done = tmp_path / "rows.jsonl", []
    path.write_text(json.dumps({"family": "bowl", "offset": "none", "seed": 0, "signs": {}}) + "\n")
    wanted = jobs(["bowl"], range(1))[:1]
    assert len(jobs(["bowl", "levy"], range(2))) == 4 * len(OFFSETS)
    collect(path, wanted, 1, done.append)
    assert (len(stored(path)), done) == (1, [1])
