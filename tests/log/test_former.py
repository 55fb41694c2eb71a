"""Studies of earlier versions are resumed: one of every kind, as versions 0.1.0 and 0.2.0 wrote it."""

import functools
import json
import shutil
from pathlib import Path

import numpy as np
import pytest

import equipoise as eq
from equipoise.answer import knows_enough
from equipoise.log.parts import restored
from former import LAST, former
from kinds import KINDS

FORMER = Path(__file__).parents[1] / "data" / "v0.1.0"
EXPECTED = json.loads((FORMER / "expected.json").read_text())
KNOWN = [name for name, expected in EXPECTED.items() if not expected["learned"]]
LEARNED = [name for name, expected in EXPECTED.items() if expected["learned"]]


@pytest.fixture
def resumed(tmp_path):
    """Take up a copy: a lock is made beside the file."""
    return lambda name: eq.resume(shutil.copy(FORMER / f"{name}.jsonl", tmp_path))


def test_every_log_is_looked_at():
    assert sorted(EXPECTED) == sorted(path.stem for path in FORMER.glob("*.jsonl"))
    assert len(KNOWN) >= 8
    assert len(LEARNED) >= 5


@pytest.mark.parametrize("name", EXPECTED)
def test_what_was_asked_and_told_is_known_and_it_goes_on(resumed, name):
    opt, expected = resumed(name), EXPECTED[name]
    assert opt.readings == expected["readings"] == sum(record.value is not None for record in opt.records())
    assert opt.study.belief.comparisons == expected["comparisons"]
    assert list(opt.study.open_trials) == expected["open"]
    best = opt.recommend()
    assert np.isfinite(opt.space.encode(best.x)).all()
    assert best.gap_bound >= 0
    assert (best.kind != "guess") == knows_enough(opt.study.belief)
    trial = opt.ask(worker="of today")
    assert trial.id == expected["asks"][0][0]
    opt.tell(trial, 0.5)
    assert opt.readings == expected["readings"] + 1


REWEIGHED = ("ids-two-point",)
"""Readings with errors under a theorem, which 0.1.0 gave too much weight: see tests/belief/test_confidence.py."""


@pytest.mark.parametrize("name", [name for name in KNOWN if name not in REWEIGHED])
def test_where_the_kernel_is_known_the_belief_is_the_same(resumed, name):
    opt, expected = resumed(name), EXPECTED[name]
    points = opt.space.candidates(np.random.default_rng(0))[: len(expected["mean"])]
    mean, psi = opt.posterior.difference(points, points[0])
    np.testing.assert_allclose(mean, expected["mean"], atol=1e-9)
    np.testing.assert_allclose(psi, expected["psi"], atol=1e-9)


def test_parts_under_their_former_names_are_what_they_are_called_now():
    offset = {"type": "OffsetKernel", "level": 25.0, "slope": 0.0625, "walk": 0.5, "wave": 0.1, "duration": 7.0}
    description = {"type": "DualPosterior", "kernel": {"type": "RBF", "lengthscale": 0.2}, "regularizer": 0.3}
    posterior = restored("posterior", description | {"offset": offset | {"jumps": [[3.0, 0.5]]}})
    assert type(posterior) is eq.belief.AnywherePosterior
    assert posterior.offset == eq.Tracked().known(walk=0.5, wave=0.1, duration=7.0).jumping((3.0, 0.5))
    finite = {"type": "CovariancePosterior", "points": [[0.0], [1.0]], "kernel": {"type": "Linear"}}
    assert type(restored("posterior", finite)) is eq.belief.FinitePosterior


@pytest.fixture(scope="module")
def known(tmp_path_factory):
    """Take up each log of 0.2.0 once; the studies are looked at only."""
    folder = tmp_path_factory.mktemp("former")
    return functools.cache(lambda name: eq.resume(former(name, folder)))


def at(opt):
    return {"temp": 20} if opt.space.contexts else None


NEWER = (
    {"counts", "counts-in-blocks", "counts-and-judgements"}
    | {
        "shares",
        "seeds",
        "folds",
        "objectives",
        "limits",
        "safe",
        "limits-by-name",
        "widened",
    }
    | {"kiln", "careful-on-seeds", "counts-by-name", "shares-on-seeds", "crowd", "tasted-at-contexts", "single"}
)
"""Kinds of study that version 0.2.0 did not have."""


def test_there_is_a_log_of_every_kind_of_study():
    assert set(KINDS) - NEWER == set(LAST)


@pytest.mark.parametrize("name", LAST)
def test_what_version_0_2_0_knew_is_known(known, name):
    opt, expected = known(name), LAST[name]
    assert (opt.readings, opt.judgements) == (expected["readings"], expected["judgements"])
    assert list(opt.study.open_trials) == expected["open"]
    assert [pair.id for pair in opt.study.open_pairs] == expected["open_pairs"]
    table = [[r.trial, r.value, r.failed, r.void, r.aside is not None] for r in opt.records()]
    assert table == expected["table"]
    assert {report.name: report.answers for report in opt.study.judges()} == expected["judges"]


@pytest.mark.parametrize("name", LAST)
def test_the_belief_of_version_0_2_0_is_the_same(known, name):
    opt, expected = known(name), LAST[name]
    points = np.array(expected["points"])
    mean, psi = opt.posterior.difference(points, points[0])
    np.testing.assert_allclose(mean, expected["mean"], rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(psi, expected["psi"], rtol=1e-6, atol=1e-6)
    assert opt.study.belief.comparisons == expected["comparisons"]


LIMITED = ("limited",)
"""Version 0.2.0 did not keep to the limits of these in all that it proposed."""


@pytest.mark.parametrize("name", [name for name in LAST if name not in LIMITED])
def test_version_0_2_0_would_have_asked_and_recommended_the_same(known, name):
    opt, expected = known(name), LAST[name]
    best = opt.recommend(context=at(opt))
    np.testing.assert_allclose(opt.space.encode(best.x), expected["best"], atol=1e-6)
    np.testing.assert_allclose(opt.study.propose(context=at(opt)).points, expected["next"], atol=1e-6)
    pair = opt.ask_pair(judge="anna", context=at(opt))
    both = [opt.space.encode(x) for x in (pair.first, pair.second)]
    np.testing.assert_allclose(both, expected["next_pair"], atol=1e-6)


DATA = Path(__file__).parents[1] / "data"
EDITED = json.loads((DATA / "former-keys.json").read_text())
"""What was known of a study of readings and judgements, corrected, retracted, undone and deferred, by former keys."""


@pytest.fixture
def edited(tmp_path):
    return eq.resume(shutil.copy(DATA / "former-keys.jsonl", tmp_path))


def test_judgements_of_former_keys_are_known(edited):
    expected = EDITED
    assert (edited.readings, edited.judgements) == (expected["readings"], expected["judgements"])
    assert [[r.trial, r.value, r.failed, r.void] for r in edited.records()] == expected["table"]
    judged = [[r.trial, r.worker, r.answer, r.failed, r.again, r.added] for r in edited.records(judgements=True)]
    assert judged == expected["judged"]
    assert list(edited.study.open_trials) == expected["open"]
    assert [pair.id for pair in edited.study.open_pairs] == expected["open_pairs"]
    assert edited.study.last_answered == expected["last"]
    assert {report.name: report.answers for report in edited.study.judges()} == expected["judges"]


def test_judgements_of_former_keys_lead_to_the_same_belief(edited):
    points = np.array(EDITED["points"])
    mean, psi = edited.posterior.difference(points, points[0])
    np.testing.assert_allclose(mean, EDITED["mean"], rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(psi, EDITED["psi"], rtol=1e-6, atol=1e-6)
    assert edited.study.belief.comparisons == EDITED["comparisons"]
    np.testing.assert_allclose(edited.study.propose().points, EDITED["next"], atol=1e-6)


def test_a_log_of_former_keys_goes_on_in_those_of_today(edited):
    pair = edited.study.open_pairs[-1]
    edited.tell(pair, "first")
    edited.correct(pair, "second")
    *_, told, corrected = (json.loads(line) for line in edited.study.log.read_text().splitlines())
    assert (told["tell"], told["answer"], told["by"]) == (pair.id, "first", "dora")
    assert (corrected["correct"], corrected["answer"]) == (pair.id, "second")
    again = eq.resume(edited.study.log)
    assert again.records(judgements=True) == edited.records(judgements=True)
    assert again.posterior.mean(np.array(EDITED["points"])).tobytes() == (
        edited.posterior.mean(np.array(EDITED["points"])).tobytes()
    )
