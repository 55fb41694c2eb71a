"""Seeds: both settings of a pair share one, the study chooses it, and claims are about the mean over them."""

import json
import sys

import numpy as np
import pytest

import equipoise as eq
from equipoise.data import Duel, Proposal
from equipoise.policies.seeds import Seeds, seeded
from equipoise.runners.program import Program
from invoking import invoke

SPACE = eq.Space(q1=eq.Float(0, 1), q2=eq.Float(0, 1))


def level(seed):
    """What a seed does to every setting: ten times what is to be found."""
    return 10.0 * np.random.default_rng(sum(str(seed).encode())).standard_normal()


def train(x, seed):
    return -4 * (x["q1"] - 0.7) ** 2 - 4 * (x["q2"] - 0.3) ** 2 + level(seed)


def study(readings, seeds=True, **parts):
    opt = eq.Optimizer(SPACE, seeds=seeds, rng=0, **parts)
    opt.run(train, readings=readings)
    return opt


@pytest.fixture(scope="module")
def read():
    return study(40)


def test_the_best_is_found_although_seeds_matter_more(read):
    best = read.recommend()
    assert abs(best.x["q1"] - 0.7) < 0.1
    assert abs(best.x["q2"] - 0.3) < 0.1
    assert best.seeds == len({record.seed for record in read.records()})
    assert str(best).endswith(f"After 40 readings on {best.seeds} seeds.")


def test_both_settings_of_a_pair_have_the_same_seed(read):
    by_duel = {}
    for record in read.records():
        by_duel.setdefault(record.duel, []).append(record.seed)
    assert all(len(set(seeds)) == 1 for seeds in by_duel.values())
    assert {len(seeds) for seeds in by_duel.values()} == {1, 2}  # on an old seed one reading is enough
    assert [record.block for record in read.records()] == [f"seed {record.seed}" for record in read.records()]


def test_where_seeds_share_all_but_noise_old_ones_are_used_again(read):
    used = [record.seed for record in read.records()]
    assert len(set(used)) < 15
    assert used[:2] == [0, 0]


def test_seeds_that_change_the_settings_are_used_less_often():
    def wild(x, seed):
        rng = np.random.default_rng(seed)
        return train(x, seed) + float(rng.normal(size=2) @ [x["q1"], x["q2"]]) * 3.0

    opt = eq.Optimizer(SPACE, seeds=True, rng=0)
    opt.run(wild, readings=40)
    assert opt.recommend().seeds > 5


def test_the_same_number_again_is_no_lack_of_noise():
    """Readings of what was read before on the same seed change nothing of the belief."""
    opt = eq.Optimizer(eq.Finite(np.array([[0.0], [1.0]])), seeds=[1, 2], rng=0)
    noise = {}
    for k in range(12):
        trial = opt.ask()
        key, before = (trial.x.tobytes(), trial.seed), opt.posterior
        opt.tell(trial, noise.setdefault(key, float(k)))
        if noise[key] != k:  # all there is, or all that is worth it, was read before
            assert opt.posterior is before
    assert len(noise) <= 4
    assert opt.readings == 12


def test_few_seeds_are_a_guess():
    opt = eq.Optimizer(SPACE, seeds=["a", "b", "c"], rng=0)
    best = opt.run(train, readings=40)
    assert best.seeds <= 3
    assert str(best).endswith(f"After 40 readings on {best.seeds} seeds. A guess: a mean over seeds needs 5.")
    assert best.kind == best.overall.kind == best.against_start.kind == "guess"
    assert best.forecast is None
    assert not best.certifies(1e9, audit=False)
    assert opt.compare({"q1": 0.7, "q2": 0.3}, {"q1": 0.1, "q2": 0.3}).kind == "guess"


def test_enough_seeds_are_an_estimate(read):
    assert read.recommend().kind == "estimate"
    assert read.compare({"q1": 0.7, "q2": 0.3}, {"q1": 0.1, "q2": 0.3}).kind == "estimate"


def cliff(x, seed):
    """A server: above a load of 0.8 it is overloaded; the best load is 0.6."""
    waiting = 1e3 * max(x["load"] - 0.8, 0.0) * (1.0 + 0.1 * np.random.default_rng(seed).uniform())
    return -4 * (x["load"] - 0.6) ** 2 - 2 * (x["cost"] - 0.3) ** 2 + 0.3 * level(seed) / 10 - waiting


def overloaded(log=None):
    space = eq.Space(load=eq.Float(0, 1), cost=eq.Float(0, 1))
    opt = eq.Optimizer(space, seeds=True, start={"load": 0.95, "cost": 0.9}, rng=3, log=log)
    opt.run(cliff, readings=45)
    return opt


def test_what_lies_far_below_the_best_hides_nothing_near_it(tmp_path):
    """Without compression the step is that of the cliff, and all below it the same."""
    opt = overloaded(tmp_path / "study.jsonl")
    best, learned = opt.recommend(), opt.study.belief.learned
    assert learned.compression is not None
    assert cliff(best.x, 0) > cliff({"load": 0.6, "cost": 0.3}, 0) - 0.05
    assert 10 < best.against_start.low < 155 < best.against_start.high  # of what was read, not of its logarithm
    again = eq.resume(tmp_path / "study.jsonl")
    assert again.study.belief.learned.compression == learned.compression
    assert repr(again.recommend()) == repr(best)
    assert again.posterior.mean(np.eye(2)).tobytes() == opt.posterior.mean(np.eye(2)).tobytes()


def test_nothing_is_compressed_without_need(read):
    assert read.study.belief.learned.compression is None


def test_readings_of_several_campaigns_are_not_compressed(tmp_path):
    """How far one lies below the best of another is not known. Earlier readings alone once were a KeyError."""
    opt, rng = eq.Optimizer(SPACE, seeds=True, rng=0, log=tmp_path / "study.jsonl"), np.random.default_rng(0)

    def waiting(x, seed):
        return cliff({"load": x["q1"], "cost": x["q2"]}, seed)

    def add(many):
        for k in range(many):
            x = {"q1": rng.random(), "q2": rng.random()}
            opt.add(x, waiting(x, k) + 50, seed=k, block="2025")
        assert opt.study.belief.learned.compression is None

    add(24)
    opt.run(waiting, readings=24)
    add(8)
    again = eq.resume(tmp_path / "study.jsonl")
    assert again.posterior.mean(np.eye(2)).tobytes() == opt.posterior.mean(np.eye(2)).tobytes()
    assert abs(opt.recommend().x["q1"] - 0.6) < 0.2


@pytest.mark.filterwarnings("ignore::equipoise.study.alerts.Estranged")  # two cliffs may look like two functions
def test_what_was_compressed_is_not_any_more_once_an_earlier_campaign_is_known():
    opt = overloaded()
    assert opt.study.belief.learned.compression is not None
    for k in range(20):
        x = {"load": 0.05 * k, "cost": 0.3}
        opt.add(x, cliff(x, k) + 50, seed=k, block="2025")
    assert opt.study.belief.learned.compression is None


def test_a_block_beside_a_seed_comes_back_from_a_table(tmp_path):
    opt = eq.Optimizer(SPACE, seeds=True, block="monday", rng=0, log=tmp_path / "study.jsonl")
    opt.run(train, readings=8)
    table = tmp_path / "table.csv"
    table.write_text(invoke("export", tmp_path / "study.jsonl").stdout)
    eq.Optimizer(SPACE, seeds=True, rng=0, log=tmp_path / "again.jsonl")
    invoke("import", tmp_path / "again.jsonl", table)
    again = eq.resume(tmp_path / "again.jsonl")
    assert [(r.block, r.seed) for r in again.records()] == [(r.block, r.seed) for r in opt.records()]
    assert again.records()[0].block == "monday, seed 0"


def test_time_may_change_what_lies_far_below_the_best():
    opt = eq.Optimizer(SPACE, seeds=True, offset=eq.Tracked(), rng=0)
    opt.run(lambda x, seed: train(x, seed) - 1e3 * (x["q1"] < 0.2), readings=20)
    assert opt.study.belief.learned.compression is None


def test_pairs_near_the_top_do_not_set_the_unit():
    """Scouts alone on old seeds once left the model with a step a hundredth of the range of f, the rest at its bounds.

    Readings of one seed differ by as much as settings do, however near to each other the settings of pairs are.
    """
    law, rng = eq.offsets.Steady(), np.random.default_rng(0)
    top = [(0.7 + 0.02 * rng.normal(), 5 + k // 2) for k in range(60)]
    scouts = [(x, k % 5) for k, x in enumerate(np.linspace(0, 1, 16))]
    lessons = [
        eq.Comparison(
            [x],
            None,
            -4 * (x - 0.7) ** 2 + level(s),
            time=t,
            pair=float(t // 2),
            circumstances=eq.offsets.Circumstances(block=f"seed {s}"),
        )
        for t, (x, s) in enumerate(scouts + top)
    ]
    model = eq.belief.LearnedModel(eq.belief.Form(np.ones(1), np.arange(1), law))
    h = eq.belief.infer(lessons, model).learned.hyperparameters
    assert h.step > 0.3
    assert h.variance < 30


def test_a_study_is_resumed_with_its_seeds(tmp_path):
    path = tmp_path / "study.jsonl"
    opt = study(21, log=path)
    again = eq.resume(path)
    assert [record.seed for record in again.records()] == [record.seed for record in opt.records()]
    for _ in range(4):
        assert again.study.propose().points.tolist() == opt.study.propose().points.tolist()
        trial = opt.ask()
        opt.tell(trial, train(trial.x, trial.seed))
        again = eq.resume(path)
    assert json.loads(path.read_text().splitlines()[0])["settings"]["seeds"] is True


def test_a_verification_has_seeds_of_its_own(read):
    opt = eq.Optimizer(SPACE, seeds=list(range(40)), rng=0)
    opt.run(train, readings=24)
    if opt.study.open_trials or opt.records()[-1].position < opt.records()[-1].positions:
        opt.run(train, readings=25)  # the second half of a pair
    used = {record.seed for record in opt.records()}
    with pytest.raises(ValueError, match=r"`duels` must be at most the [0-9]+ seeds that were never read"):
        opt.verify(40)
    opt.verify(8)
    before = opt.readings
    opt.run(train, readings=before + 16)
    fresh = [record.seed for record in opt.records()][before:]
    assert not used & set(fresh)
    assert len(set(fresh)) == 8
    assert opt.recommend().overall.kind in ("estimate", "audited")


def test_open_pairs_have_seeds_too():
    opt = eq.Optimizer(SPACE, seeds=True, rng=0)
    trials = opt.ask(n=6)
    assert trials[0].seed == trials[1].seed == 0
    assert None not in {trial.seed for trial in trials}
    opt.study.expire(trials[1])
    assert opt.ask().seed == 0


def test_under_nothing_assumed_every_pair_has_a_new_seed():
    opt = eq.Optimizer(SPACE, seeds=True, offset=eq.Arbitrary(), rng=0)
    opt.run(train, readings=12)
    assert [record.seed for record in opt.records()] == [k // 2 for k in range(12)]


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ("abc", TypeError),
        (3, TypeError),
        ([1], ValueError),
        ([1, 1], ValueError),
        ([1.5, 2], TypeError),
        ([-1, 2], ValueError),
    ],
)
def test_what_are_no_seeds_is_refused(given, error):
    with pytest.raises(error, match="`seeds` must"):
        eq.Optimizer(SPACE, seeds=given)
    assert eq.Optimizer(SPACE, seeds=False).ask().seed is None
    with pytest.raises(ValueError, match="`seeds` must be left out if a parameter is called seed"):
        eq.Optimizer(eq.Space(seed=eq.Int(1, 9)), seeds=True)


# --- the choice ---------------------------------------------------------------------------------------------------


def test_without_anything_read_the_first_new_seed_is_taken():
    pair = Proposal.pair([0.2], [0.8])
    duel = Duel(pair, pair.points, (1.0, -1.0), *pair.points)
    posterior = eq.belief.AnywherePosterior(eq.RBF(0.3), offset=eq.offsets.Steady().known())
    found = seeded(duel, Seeds(), {}, posterior, lambda seed, made: ())
    assert found == (0, duel)
    assert seeded(duel, Seeds(("a", "b")), {"a": pair.points, "b": pair.points}, posterior, lambda *_: ())[1] is duel


@pytest.mark.parametrize("parts", [{}, {"policy": eq.UCB()}, {"offset": eq.Tracked()}])
def test_nothing_is_read_twice_while_a_seed_of_a_list_is_left(parts):
    """Of 48 readings of 8 settings under 6 folds, 30 once repeated a known number."""
    opt = eq.Optimizer(eq.Finite(np.linspace(0, 1, 8)[:, None]), seeds=range(6), rng=0, **parts)
    opt.run(lambda x, seed: -((x[0] - 0.3) ** 2) + level(seed) + np.sin(50 * x[0] + seed) / 10, readings=48)
    assert len({(record.seed, record.x[0]) for record in opt.records()}) == 48
    assert opt.recommend().kind == "estimate"
    known = {(record.seed, *record.x): record.value for record in opt.records()}
    opt.run(lambda x, seed: known[seed, *x], readings=60)  # nothing is left: what is known is asked for again
    assert len(opt._session.state.ledger.points_read()) == 48  # known numbers do not support the bound


# --- doors --------------------------------------------------------------------------------------------------------


def test_a_program_gets_the_seed():
    trial = eq.Optimizer(eq.Space(q1=eq.Int(1, 9)), seeds=[17, 18], rng=0).ask()
    script = "import sys; print(' '.join(sys.argv[1:]).count('17'))"
    for words in (["python3", "-c", script, "--seed", "{seed}"], ["python3", "-c", script]):
        with Program(words) as program:
            assert program.measure(trial) == {"value": 1.0}
    assert repr(trial) == f"Trial(id=0, x={trial.x!r}, seed=17)"
    with Program(["python3", "-c", "import json; print(json.loads(input())['seed'])"], stdin=True) as program:
        assert program.measure(trial) == {"value": 17.0}


def test_a_function_without_a_seed_is_refused_before_it_is_called():
    opt = eq.Optimizer(SPACE, seeds=True, rng=0)
    with pytest.raises(TypeError, match="`measure` must take a setting and a seed in a study with seeds"):
        opt.run(lambda x: 1.0, readings=6)
    assert not opt.study.open_trials
    opt.run(lambda *given: float(given[1]), readings=2)


def test_the_shell_says_the_seed(tmp_path):
    path = tmp_path / "study.jsonl"
    invoke("new", path, "--float", "q1", 0, 1, "--seeds", "fold 1,fold 2", "--seed", 0)
    assert invoke("ask", path).stdout.strip().endswith("seed=fold 1")
    assert json.loads(invoke("ask", path, "--json").stdout)["seed"] == "fold 1"
    invoke("tell", path, 0, 0.5)
    assert "fold 1" in invoke("export", path).stdout
    assert "on 1 seed." in invoke("best", path).stdout
    invoke("ask", path)
    assert invoke("status", path).stdout.rstrip().endswith("seed fold 1")
    assert invoke("status", path, "--json").data["open"][0]["seed"] == "fold 1"


def test_settings_go_where_their_names_stand(tmp_path):
    path, script = (
        tmp_path / "study.jsonl",
        "import sys; print(float(sys.argv[1])); assert len(sys.argv) == 3, sys.argv",
    )
    invoke("new", path, "--float", "q1", 0, 1, "--int", "n", 1, 3, "--seeds", "any", "--seed", 0)
    invoke(
        "run", path, "--readings", 2, "--max-failures", 1, "--", sys.executable, "-c", script, "{q1}", "--n={n} {seed}"
    )
    assert [record.value for record in eq.resume(path).records()] == [r.x["q1"] for r in eq.resume(path).records()]


def test_gest_says_the_seed():
    vocs = pytest.importorskip("gest_api.vocs", reason="needs the extra `gest`")
    from equipoise.integrations.gest import DuelGenerator

    given = vocs.VOCS(variables={"x": [0, 1]}, objectives={"f": "MAXIMIZE"})
    points = DuelGenerator(given, seeds=True, rng=0).suggest(4)
    assert points[0]["seed"] == points[1]["seed"] == 0
    assert all("seed" in point for point in points)
    assert "seed" not in DuelGenerator(given, rng=0).suggest()[0]


@pytest.mark.filterwarnings("ignore::optuna.exceptions.ExperimentalWarning")
def test_optuna_passes_the_seed():
    optuna = pytest.importorskip("optuna", reason="needs the extra `optuna`")
    from equipoise.integrations.optuna import DuelSampler, best_params, paired, recommend

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    seen = []

    def objective(trial, seed):
        seen.append((trial.number, seed, trial.user_attrs["seed"]))
        return -((trial.suggest_float("x", 0, 1) - 0.7) ** 2) + level(seed)

    found = optuna.create_study(direction="maximize", sampler=DuelSampler(seeds=True, seed=0))
    found.optimize(paired(objective), n_trials=4)
    assert (recommend(found).seeds, recommend(found).kind) == (4, "guess")
    found.optimize(paired(objective), n_trials=16)
    assert "After 40 readings on 20 seeds." in str(recommend(found))
    assert seen == [(k // 2, k // 2, k // 2) for k in range(40)]
    assert abs(best_params(found)["x"] - 0.7) < 0.1
    assert found.trials[3].user_attrs["seed"] == 3
    assert found.trials[3].system_attrs["eq"]["b"] == "seed 3"
    without = optuna.create_study(sampler=DuelSampler(seed=0))
    with pytest.raises(TypeError, match=r"`objective` takes a seed, which a sampler with seeds gives: DuelSampler"):
        without.optimize(paired(objective), n_trials=1)
    without.optimize(paired(lambda trial, seed=3: trial.suggest_float("x", 0, 1) + seed), n_trials=1)


@pytest.mark.filterwarnings("ignore::optuna.exceptions.ExperimentalWarning")
def test_in_optuna_the_same_number_again_is_no_lack_of_noise():
    optuna = pytest.importorskip("optuna", reason="needs the extra `optuna`")
    from equipoise.integrations.optuna import DuelSampler, paired, recommend

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    seen, noise = [], 0.2 * np.random.default_rng(0).standard_normal((6, 8))

    def objective(trial, seed):
        i = "abcdefgh".index(trial.suggest_categorical("x", [*"abcdefgh"]))
        seen.append((i, seed))
        return level(seed) + float(noise[seed, i])

    sampler = DuelSampler(seeds=range(6), seed=0)
    found = optuna.create_study(direction="maximize", sampler=sampler)
    found.optimize(paired(objective), n_trials=30)
    assert len(set(seen)) < len(seen)
    h = next(iter(sampler._known_of(found)[2].values())).learned.hyperparameters
    assert h.step * h.noise**0.5 > 0.03  # once 0.001
    assert 0 < recommend(found).gap_bound < 2  # of eight settings there was no bound


def test_readings_that_were_not_asked_for_have_seeds_too(tmp_path):
    """What was read before on a seed is an old seed: its level is known, and it may be used again."""
    path = tmp_path / "study.jsonl"
    opt = eq.Optimizer(SPACE, seeds=True, rng=0, log=path)
    settings = [{"q1": q1, "q2": q2} for q1 in (0.1, 0.5, 0.9) for q2 in (0.1, 0.5, 0.9)]
    for seed in (0, 4):
        for x in settings:
            opt.add(x, train(x, seed), seed=seed)
    assert [(record.seed, record.block, record.earlier) for record in opt.records()][::9] == [
        (0, "seed 0", False),
        (4, "seed 4", False),
    ]
    assert opt.recommend().seeds == 2
    opt.run(train, readings=26)
    assert {record.seed for record in opt.records()[18:]} & {0, 4}
    again = eq.resume(path)
    assert again.records() == opt.records()
    assert again.posterior.mean(np.eye(2)).tobytes() == opt.posterior.mean(np.eye(2)).tobytes()
    opt.add(settings[0], 1.0, block="2025", seed=0)
    last = opt.records()[-1]
    assert (last.seed, last.block, last.earlier) == (0, "2025, seed 0", True)


@pytest.mark.parametrize(
    ("seeds", "given", "error"),
    [
        (None, {"seed": 1}, "no seeds"),
        (["a", "b"], {"seed": "c"}, "must be one of a, b"),
        (True, {"seed": -1}, "at least 0"),
        (True, {"seed": 1, "against": {"q1": 0.5, "q2": 0.5}}, "judgement has none"),
    ],
)
def test_a_seed_that_is_none_of_the_study_is_refused(seeds, given, error):
    opt = eq.Optimizer(SPACE, seeds=seeds, rng=0)
    with pytest.raises(ValueError, match=error):
        opt.add({"q1": 0.1, "q2": 0.1}, "first" if "against" in given else 0.5, **given)
    assert not opt.records()


def test_a_table_of_a_study_with_seeds_is_taken_in_by_another(tmp_path):
    first, second, table = tmp_path / "first.jsonl", tmp_path / "second.jsonl", tmp_path / "table.csv"
    study(12, log=first)
    invoke("export", first, "--out", table)
    invoke("new", second, "--float", "q1", 0, 1, "--float", "q2", 0, 1, "--seeds", "any")
    invoke("import", second, table)
    taken, known = eq.resume(second).records(), eq.resume(first).records()
    assert [(r.seed, r.block, r.value, r.earlier) for r in taken] == [(r.seed, r.block, r.value, False) for r in known]
    assert "12 rows" in invoke("import", second, table, code=1).output
