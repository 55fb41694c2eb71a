"""Blocks is one file and one export; this suffices to fit, guard, log, resume and plot it, and for Optuna."""

import ast
from pathlib import Path

import numpy as np
import pytest

import equipoise as eq
from equipoise.belief import Form, LearnedBelief, LearnedModel, StudyBelief, pair_variance
from equipoise.data import Reading, teaches

SOURCE = Path(eq.__file__).parent
LENGTH = 6
BOX = eq.Box([(0, 1)], candidates=32)
LINE = np.linspace(0, 1, 21)[:, None]


def f(x):
    return -4.0 * (x - 0.7) ** 2


def levels(scale, readings, seed=0):
    """The true offset of each reading: its own level for every run."""
    drawn = scale * np.random.default_rng(seed).normal(size=-(-readings // LENGTH))
    return np.repeat(drawn, LENGTH)[:readings]


def studied(readings=60, scale=3.0, **options):
    """A study of f whose readings have another level in every run."""
    opt = eq.Optimizer(BOX, offset=eq.Blocks(LENGTH), rng=0, **options)
    noise = 0.02 * np.random.default_rng(1).normal(size=readings)
    for offset, error in zip(levels(scale, readings), noise, strict=True):
        trial = opt.ask()
        opt.tell(trial, f(trial.x[0]) + offset + error)
    return opt


def named(tree):
    """Every name that code says, docstrings left out."""
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name) | ast.Attribute(attr=name) | ast.ClassDef(name=name) | ast.alias(name=name):
                yield name


def test_nothing_but_its_own_file_and_the_exports_knows_of_it():
    files = SOURCE.rglob("*.py")
    knows = {path.relative_to(SOURCE).as_posix() for path in files if "Blocks" in named(ast.parse(path.read_text()))}
    assert knows == {"offsets/blocks.py", "offsets/__init__.py", "__init__.py", "lab/experiments/real/lineup.py"}


@pytest.mark.parametrize("scale", [0.5, 5.0, 500.0])
def test_the_variance_of_the_levels_is_learned(scale):
    """20 levels: the deviation of a log variance is sqrt(2 / 19) = 0.32, and a factor of 3 is 3.4 of these."""
    truth, rng = levels(scale, 20 * LENGTH), np.random.default_rng(1)
    posterior = LearnedBelief.prior(LearnedModel(Form(np.ones(1), np.arange(1), eq.Blocks(LENGTH))))
    for t, offset in enumerate(truth):
        x = rng.random(1)
        posterior = posterior.condition(eq.Comparison(x, None, f(x[0]) + offset + 0.02 * rng.normal(), time=t + 1))
    learned = posterior.hyperparameters
    (level,) = learned.offset
    assert 1 / 3 < level * learned.step**2 / np.var(truth[::LENGTH]) < 3
    mean, variance = posterior.exact.difference(LINE, [0.7])
    np.testing.assert_allclose(mean, f(LINE[:, 0]), atol=0.2)
    assert (np.abs(mean - f(LINE[:, 0])) < 4 * np.sqrt(variance) + 0.02).all()


def test_only_readings_of_one_run_are_compared():
    """With levels a thousand times as large as f, what is learned is what differences inside runs teach."""
    rng, known = np.random.default_rng(0), eq.Blocks(3).known(level=1e6)
    X, y = rng.random((12, 1)), rng.normal(size=12)
    posterior = eq.belief.AnywherePosterior(eq.RBF(0.3), 0.1, offset=known)
    for t, (x, outcome) in enumerate(zip(X, y, strict=True)):
        posterior = posterior.condition(eq.Comparison(x, None, outcome, time=t + 1))
    D = np.zeros((8, 12))  # each run's second and third reading less its first
    for row in range(8):
        run = row // 2
        D[row, [3 * run, 3 * run + 1 + row % 2]] = -1.0, 1.0
    S = D @ (eq.RBF(0.3)(X, X) + 0.1 * np.eye(12)) @ D.T
    expected = eq.RBF(0.3)(LINE, X) @ D.T @ np.linalg.solve(S, D @ y)
    np.testing.assert_allclose(posterior.mean(LINE) - posterior.mean(LINE[:1]), expected - expected[0], atol=1e-4)


def test_it_finds_the_best_where_levels_hide_it():
    opt = studied()
    assert opt.recommend().x[0] == pytest.approx(0.7, abs=0.05)
    assert opt.study.setup.offset == eq.Blocks(LENGTH)


def test_the_guard_watches_it():
    """Every reading says that 0.2 is better, every duel that 0.8 is: the duels are believed."""
    posterior = eq.Optimizer(BOX, offset=eq.Blocks(LENGTH, guard=2.5), rng=0).study.belief.learned
    assert posterior.model.guard == 2.5
    ends, rng = np.array([[0.2], [0.8]]), np.random.default_rng(0)
    for duel in range(12):
        for half, i in enumerate(rng.permutation(2)):
            time = 2 * duel + half + 1
            posterior = posterior.condition(eq.Comparison(ends[i], None, 1.0 - i + 0.1 * rng.normal(), time=time))
        posterior = posterior.condition(eq.Comparison(ends[1], ends[0], 1.0 + 0.1 * rng.normal()))
    assert posterior.contradicted
    assert posterior.exact.at(ends).mean.argmax() == 0
    assert posterior.trusted.at(ends).mean.argmax() == 1


def test_without_a_guard_nothing_watches_it():
    opt = eq.Optimizer(BOX, offset=eq.Blocks(LENGTH, guard=None), rng=0)
    assert opt.study.belief.learned.duels is None
    duel = eq.TwoPoint()(eq.Proposal.pair([0.0], [1.0]), np.random.default_rng(0))
    told = [Reading(7.0, place=1), Reading(5.0, place=2)]
    assert [len(teaches(duel, told, eq.Blocks(3, guard=guard))) for guard in (3.0, None)] == [3, 2]


def test_a_log_resumes_to_the_same_belief(tmp_path):
    path = tmp_path / "study.jsonl"
    opt = studied(readings=32, log=path)
    again = eq.resume(path)
    assert again.study.setup.offset == eq.Blocks(LENGTH)
    before, after = (each.posterior.at(LINE) for each in (opt, again))
    assert before.mean.tobytes() == after.mean.tobytes()
    assert before.covariance().tobytes() == after.covariance().tobytes()
    assert opt.study.belief.learned.fitted == again.study.belief.learned.fitted
    assert again.study.propose().points.tobytes() == opt.study.propose().points.tobytes()
    with pytest.raises(ValueError, match="`offset` must stay what the log says"):
        eq.resume(path, offset=eq.Blocks(LENGTH + 1))


def test_the_picture_of_the_readings_follows_the_levels():
    plt = pytest.importorskip("matplotlib.pyplot")
    from drawn import line_of

    opt, truth = studied(), levels(3.0, 60)
    drawn = line_of(eq.plots.readings(opt), "estimated offset, at the best setting")[:, 1]
    plt.close("all")
    np.testing.assert_allclose(drawn, truth, atol=0.2)  # f is zero at its best, and the noise 0.02
    assert all(np.ptp(run) < 1e-6 for run in drawn.reshape(-1, LENGTH))


@pytest.mark.parametrize("length", [2, 3, 5])
def test_a_level_inside_a_pair_is_no_noise_of_pairs(length):
    """Scouts go out if pairs are noisy: with the level in the noise half of all pairs were scouts."""
    posterior = LearnedBelief.prior(LearnedModel(Form(np.ones(1), np.arange(1), eq.Blocks(length))))
    for t in range(1, 13):
        posterior = posterior.condition(eq.Comparison([0.1 * t % 1], None, float(t // length), time=t))
        assert pair_variance(StudyBelief(posterior)) == pytest.approx(2 * posterior.exact.regularizer)


def test_what_is_not_a_length_is_refused():
    for length, error in ((0, ValueError), (2.5, TypeError)):
        with pytest.raises(error, match="`length` must be"):
            eq.Blocks(length)
    with pytest.raises(ValueError, match="`guard` must be positive"):
        eq.Blocks(3, guard=0.0)


def test_the_optuna_sampler_accepts_it():
    """Each duel is two readings, so a run of six readings is three trials."""
    optuna = pytest.importorskip("optuna")
    from equipoise.integrations.optuna import DuelSampler, best_params, paired

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    offsets, noise = iter(levels(3.0, 60)), np.random.default_rng(1)

    def objective(trial):
        return f(trial.suggest_float("x", 0, 1)) + next(offsets) + 0.02 * noise.normal()

    study = optuna.create_study(direction="maximize", sampler=DuelSampler(offset=eq.Blocks(LENGTH), seed=0))
    study.optimize(paired(objective), n_trials=30)
    assert study.sampler.offset == eq.Blocks(LENGTH)
    assert best_params(study)["x"] == pytest.approx(0.7, abs=0.05)
