"""The ranking of judged settings: values hold for all at once, ranks for the best of many, unseen names among them."""

import numpy as np
import pytest

import equipoise as eq
from equipoise.answer import scales


def judged(names, answers, deviation, seed, steps=3):
    """A study of names by one judge, whose noise is the unit, and the true value of each."""
    rng = np.random.default_rng(seed)
    f = dict(zip([f"n{i}" for i in range(names)], deviation * rng.normal(size=names), strict=True))

    def decide(first, second):
        felt = f[first] - f[second] + rng.normal()
        return "equal" if steps == 3 and abs(felt) < 0.4 else "first" if felt > 0 else "second"

    opt = eq.Optimizer(eq.Finite(list(f)), rng=seed)
    opt.run(decide, judgements=answers, steps=steps)
    return opt, f


def test_values_hold_for_all_settings_at_once():
    """Promised in 95 % of rankings: of 6, more than 2 fail with a probability of 0.002."""
    missed = 0
    for seed in range(6):
        opt, f = judged(16, 30, 2.0, seed)
        average = np.mean(list(f.values()))
        missed += not all(place.low <= f[place.x] - average <= place.high for place in opt.rank())
    assert missed <= 2


def test_the_leader_of_many_has_the_ranks_it_may_have():
    """More names than answers of a judge who never errs: of 4, more than 1 fails with a probability of 0.014."""
    missed = 0
    for seed in range(4):
        opt, f = judged(50, 25, 1000.0, seed, steps=2)
        leader = opt.rank()[0]
        rank = 1 + sum(value > f[leader.x] for value in f.values())
        missed += not leader.ranks[0] <= rank <= leader.ranks[1]
    assert missed <= 1


def test_names_that_nobody_saw_may_be_better():
    opt, _ = judged(60, 8, 2.0, 0)
    table = opt.rank()
    assert len(table) == 60
    seen = {name for pair, _ in opt.study.answers() for name in (pair.first, pair.second)}
    assert len(seen) < 30
    assert table[0].ranks[1] > 5  # each of more than thirty others has a chance
    unseen = [place for place in table if place.x not in seen]
    assert all(place.ranks[1] - place.ranks[0] > 40 for place in unseen)


def test_it_is_the_same_whenever_one_looks():
    opt, _ = judged(8, 20, 2.0, 1)
    first = opt.rank()
    opt.recommend()
    assert [place.ranks for place in opt.rank()] == [place.ranks for place in first]
    assert [place.low for place in opt.rank()] == pytest.approx([place.low for place in first])


def test_the_size_of_f_is_open_if_only_judges_teach_it():
    opt, _ = judged(12, 30, 2.0, 2)
    found = scales(opt.study.belief)
    assert len(found) > 3
    assert sum(chance for chance, _ in found) == pytest.approx(1.0, abs=0.01)
    sizes = [each.at(opt.space.points).covariance().trace() for _, each in found]
    assert sizes == sorted(sizes)
    known = eq.Optimizer(eq.Finite(list("abc")), kernel=eq.RBF(0.3), rng=0)
    for _ in range(6):
        known.tell(known.ask_pair(), "first")
    assert len(scales(known.study.belief)) == 1


def test_settings_that_were_read_have_a_ranking_too():
    points = np.linspace(0, 1, 7)[:, None]
    opt = eq.Optimizer(eq.Finite(points), rng=0, minimize=True)
    rng = np.random.default_rng(0)
    for t in range(60):
        trial = opt.ask()
        opt.tell(trial, float((trial.x[0] - 0.5) ** 2) + 0.3 * t + 0.01 * rng.normal())
    table = opt.rank()
    f = (points[:, 0] - 0.5) ** 2
    assert float(table[0].x[0]) == pytest.approx(0.5)
    assert table[0].ranks == (1, 1)
    assert all(place.low <= (float(place.x[0]) - 0.5) ** 2 - f.mean() <= place.high for place in table)
