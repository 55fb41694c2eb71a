"""The gate: its decisions, its log, and no loss after a crash."""

import json
import math

import numpy as np
import pytest

import equipoise as eq
from equipoise.programs.gating import Look, Rules, Stream
from equipoise.programs.gating.whitening import Readings, Variances, Version, fitted, whitened, worth


def drawn(rng, versions, share=0.8, drift=0.0, n_seeds=5, repeats=1, effects=None):
    """Readings of versions of a first one, on the same seeds, in random order."""
    effects = np.zeros(versions) if effects is None else np.asarray(effects)
    readings = Readings(tuple(Version(0, 0.0, 0.25) for _ in range(versions)))
    levels, o = rng.normal(size=n_seeds) * math.sqrt(share), 0.0
    for version, seed in rng.permutation([(v, s) for v in range(versions) for s in range(n_seeds)] * repeats):
        o += drift * rng.normal()
        value = effects[version] + levels[seed] + o + math.sqrt(1 - share) * rng.normal()
        readings = readings.adding(int(version), int(seed), value)
    return readings


def test_innovations_are_those_of_least_squares():
    """With two versions on the same seeds the estimate is the mean of the paired differences."""
    readings = drawn(np.random.default_rng(0), 2, effects=[0.0, 1.0])
    found = whitened(readings, 1, Variances(seed=4.0, step=0.0, unit=1.0))
    means = [readings.values[readings.versions == v].mean() for v in (0, 1)]
    assert found.estimate == pytest.approx(means[1] - means[0], abs=1e-3)
    assert 1 / found.information == pytest.approx(2 / 5, rel=1e-3)
    assert whitened(readings, 1, Variances(4.0), margin=0.25).estimate == pytest.approx(found.estimate - 0.25)


def test_the_worth_of_a_look_is_the_growth_of_the_information():
    readings, variances = drawn(np.random.default_rng(1), 3), Variances(3.0, 0.02, 0.4)
    seeds = np.array([0, 3, 7])
    alone, pair = worth(readings, 2, variances, seeds)
    before = whitened(readings, 2, variances).information
    for i, seed in enumerate(seeds.tolist()):
        after = whitened(readings.adding(2, seed, 0.0), 2, variances).information
        both = whitened(readings.adding(0, seed, 0.0).adding(2, seed, 0.0), 2, variances).information
        assert (alone[i], pair[i]) == pytest.approx((after - before, both - before), rel=1e-4)


def test_variances_are_found():
    """Medians of 15 draws: seeds of 80 % of the variance, then a drift."""
    found = [fitted(drawn(np.random.default_rng(i), 8, 0.8, 0.0, 8), Variances()) for i in range(15)]
    assert np.median([each.seed for each in found]) in (3.0, 10.0)
    assert np.median([each.step for each in found]) == 0.0
    assert np.median([each.unit for each in found]) == pytest.approx(0.2**0.5, rel=0.3)
    drifting = [fitted(drawn(np.random.default_rng(i), 8, 0.0, 0.5, 8), Variances()) for i in range(15)]
    assert np.median([each.step for each in drifting]) >= 0.1


def test_paired_evidence_of_ideas_that_do_nothing_is_one_in_the_mean():
    """A real drift that the model knows nothing of: pairs in random order. 400 candidates, standard error 0.1."""
    rng, evidence = np.random.default_rng(2), []
    for _ in range(400):
        stream, o = Stream(Rules()), 0.0
        for look in [Look(0, seed) for seed in range(4)]:
            stream.read(look, rng.standard_t(3))
        stream.tried = [None]  # no first idea, whose variances would be fitted meanwhile
        candidate = stream.begin()
        for seed in range(4, 9):
            for version in rng.permutation([0, candidate]).tolist():
                o += 0.5 + rng.normal()
                stream.read(Look(version, seed), o + rng.standard_t(3))
        evidence.append(stream.standing().evidence)
    assert 0.6 < np.mean(evidence) < 1.3


def model(skill, rng=None, noise=0.1):
    """A measurement with a level for each seed."""
    rng = np.random.default_rng(0) if rng is None else rng
    return lambda seed: skill + math.sin(7 * seed) + noise * rng.normal()


@pytest.mark.parametrize(("lower", "unit"), [(False, 1e-3), (True, 1e6)])
def test_it_keeps_what_is_better_in_any_unit(lower, unit):
    rng = np.random.default_rng(4)
    sign = -unit if lower else unit

    def scaled(skill):
        return lambda seed: sign * model(skill, rng)(seed)

    gate = eq.Gate(scaled(1.0), lower=lower, rng=0)
    assert gate.test(scaled(1.0), "same").decision == "discard"
    kept = gate.test(scaled(2.0), "better")
    assert kept.decision == "keep"
    assert kept.found.effect.value == pytest.approx(unit, rel=0.25)
    assert gate.test(scaled(1.2), "worse").decision == "discard"
    night = gate.status()
    assert (gate.champion, night.count("keep"), night.count("discard")) == ("better", 1, 2)
    assert night.gain.value == pytest.approx(unit, rel=0.25)
    assert night.record > 1.5 * unit
    assert "3 ideas" in str(night)
    assert json.loads(json.dumps(night.data()))["champion"] == "better"


def test_a_first_idea_is_kept_if_it_is_clearly_better_on_the_same_seeds():
    """Nothing is known yet of the seeds, which have 97 % of the variance."""

    def model(skill, rng):
        return lambda seed: skill + 0.3 * np.random.default_rng(seed).normal() + 0.05 * rng.normal()

    for seed in range(20):
        rng = np.random.default_rng(seed)
        gate = eq.Gate(model(0.0, rng), rng=seed)
        assert gate.test(model(0.3, rng), "better").decision == "keep"


def test_a_margin_is_a_hurdle():
    rng = np.random.default_rng(5)
    gate = eq.Gate(model(1.0, rng), margin=0.5, rng=0)
    assert gate.test(model(1.3, rng), "a little").decision == "discard"
    assert gate.test(model(2.0, rng), "much").decision == "keep"


def test_a_program_without_noise():
    gate = eq.Gate(lambda seed: 3.0, rng=0, seeds=1)
    assert gate.test(lambda seed: 3.0, "same").decision == "discard"
    assert gate.test(lambda seed: 3.5, "better").decision == "keep"
    assert gate.test(lambda seed: 3.4, "worse").decision == "discard"


def test_it_stays_undecided_when_the_readings_are_used_up():
    gate = eq.Gate(model(1.0, noise=1.0), rng=0, most=2)
    found = gate.test(model(2.0, noise=1.0), "too soon")
    assert (found.decision, found.found.looks) == ("open", 2)
    assert gate.champion == "champion"
    assert "Not decided" in str(found)


def broken(seed):
    raise OSError("out of memory")


def test_a_candidate_that_fails_is_discarded_and_the_champion_stays(tmp_path):
    gate = eq.Gate(model(1.0), log=tmp_path / "gate.jsonl", rng=0)
    found = gate.test(broken, "broken")
    assert (found.decision, found.found.why) == ("discard", "it failed on seed 0: out of memory") or (
        found.decision == "discard" and "out of memory" in found.found.why
    )
    assert gate.test(lambda seed: math.nan, "nan").decision == "discard"
    assert gate.champion == "champion"
    assert gate.status().data()["counts"] == {"keep": 0, "discard": 2, "open": 0}


def test_a_log_is_the_gate(tmp_path):
    log, rng = tmp_path / "gate.jsonl", np.random.default_rng(6)
    gate = eq.Gate(model(1.0, rng), log=log, rng=0, name="first")
    for name, skill in (("same", 1.0), ("better", 2.0), ("worse", 1.5)):
        gate.test(model(skill, rng), name, {"rev": name})
    again = eq.Gate(model(2.0, rng), log=log)
    assert again.status() == gate.status()
    assert again.about == {"rev": "better"}
    assert again.test(model(1.9, rng), "next").decision == "discard"
    gate_lines = log.read_text().splitlines()
    assert len([line for line in gate_lines if '"settled"' in line]) == 4


def test_an_interrupted_trial_goes_on(tmp_path):
    """Ctrl-C in the third reading of the candidate: the same name continues, with what was read."""
    log, rng, calls = tmp_path / "gate.jsonl", np.random.default_rng(7), []

    def interrupted(seed):
        calls.append(seed)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return model(2.0, rng)(seed)

    gate = eq.Gate(model(1.0, rng), log=log, rng=0)
    with pytest.raises(KeyboardInterrupt):
        gate.test(interrupted, "better")
    again = eq.Gate(model(1.0, rng), log=log)
    assert again.trying == "better"
    assert "is being tried" in str(again.status())
    found = again.test(model(2.0, rng), "better")
    assert found.decision == "keep"
    assert found.found.looks > 2
    assert again.trying == ""


def test_another_idea_ends_an_interrupted_trial(tmp_path):
    log = tmp_path / "gate.jsonl"

    def stopped(seed):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        eq.Gate(model(1.0), log=log, rng=0).test(stopped, "left")
    gate = eq.Gate(model(1.0), log=log)
    gate.test(model(0.5), "other")
    assert [idea.decision for idea in gate.status().ideas] == ["open", "discard"]


def test_a_champion_that_fails_ends_nothing(tmp_path):
    log = tmp_path / "gate.jsonl"
    eq.Gate(model(1.0), log=log, rng=0).begin()
    gate = eq.Gate(broken, log=log)
    rng = np.random.default_rng(8)
    with pytest.raises(OSError, match="out of memory"):
        [gate.test(model(1.0, rng, noise=0.5), "needs a pair at last") for _ in range(100)]
    assert gate.champion == "champion"


def test_wrong_arguments():
    with pytest.raises(TypeError, match="`champion` must be a function"):
        eq.Gate(3.0)
    with pytest.raises(TypeError, match="`candidate` must be a function"):
        eq.Gate(model(1.0)).test(3.0, "x")
    with pytest.raises(ValueError, match="`alpha` must lie"):
        eq.Gate(model(1.0), alpha=2.0)
    with pytest.raises(eq.LogError, match="it has no checksum"):
        eq.Gate(model(1.0), log=__file__)
    with pytest.raises(RuntimeError, match="begin one first"):
        Stream().standing()
