"""Many questions: the shares of false discoveries, against brute force and by simulation."""

import itertools

import numpy as np
import pytest

from equipoise.answer.sequential import Budget, chance, coin_wealth, e_bh, evidence, posterior, prior


def test_e_bh_is_the_largest_set_with_enough_evidence():
    """Tried over all sets of each size."""
    rng = np.random.default_rng(0)
    for _ in range(50):
        e, alpha = np.exp(rng.normal(2, 2, 6)), 0.1
        allowed = [k for k in range(1, 7) if np.sort(e)[-k] >= 6 / (alpha * k)]
        found = e_bh(e, alpha)
        assert found.sum() == max(allowed, default=0)
        assert not found.any() or e[found].min() > e[~found].max(initial=0.0)
    assert e_bh([]).shape == (0,)


def stream(rng, helpful, fresh=True):
    """A stream of 60 questions by fair or loaded coins, each of 12 looks at most: false and all discoveries."""
    budget, false, found = Budget(0.1), 0, 0
    for better in rng.random(60) < helpful:
        v = np.where(rng.random(12) < (0.95 if better else 0.5), 1.0, -1.0)
        e = coin_wealth(v)
        stop = np.argmax((e >= budget.needed) | (e < 0.2)) if ((e >= budget.needed) | (e < 0.2)).any() else 11
        kept = bool(e[stop] >= budget.needed)
        budget = budget.settled(e[stop], kept=kept, fresh=fresh)
        false, found = false + (kept and not better), found + kept
    return false, found


@pytest.mark.parametrize("helpful", [0.0, 0.1])
def test_few_of_the_discoveries_of_a_stream_are_false(helpful):
    """True share 5 % and 6 %; a standard error of 1.2 % of the mean over 400 streams: wrong once in 1,000 seeds."""
    rng = np.random.default_rng(1)
    shares = [false / max(found, 1) for false, found in (stream(rng, helpful) for _ in range(400))]
    assert np.mean(shares) <= 0.1


def test_what_was_not_used_up_finds_more():
    """The same streams, with and without paying back."""
    found = {
        fresh: sum(stream(rng, 0.2, fresh)[1] for rng in map(np.random.default_rng, range(40)))
        for fresh in (True, False)
    }
    assert found[True] > 1.3 * found[False] > 0


def test_the_wealth_never_grows_and_a_false_discovery_costs_its_share():
    budget = Budget(0.1)
    for e, kept in ((0.4, False), (3.0, False), (1e9, True), (0.0, False)):
        after = budget.settled(e, kept=kept)
        assert 0 < after.wealth <= budget.wealth
        assert not kept or budget.stake * e >= 1 / (budget.found + 1)
        budget = after
    with pytest.raises(ValueError, match="`evidence` must be at least"):
        budget.settled(1.0, kept=True)


def test_evidence_of_any_sizes_is_a_martingale():
    """All falls of the coins, for sizes in a unit that was set before, and several rows at once."""
    falls = np.array(list(itertools.product((-1, 1), repeat=6)))
    sizes = np.array([[0.3, 2.0, 0.0, 0.1, 5.0, 1.0], [1.0, 1.0, 1.0, 9.0, 0.2, 0.2]])
    e = coin_wealth(falls[:, None] * sizes, bets=[0.2, 1.0, 3.0], weights=[0.5, 0.25, 0.25])
    assert e.shape == (64, 2, 6)
    np.testing.assert_allclose(e.mean(axis=0), 1.0)
    assert evidence([1.0, 1.0, 1.0])[-1] <= 8.0


def test_a_harmful_effect_has_less_evidence_than_none():
    d = np.random.default_rng(2).normal(size=(200, 20))
    none, harm = (np.array([evidence(row - shift)[-1] for row in d]) for shift in (0.0, 0.5))
    assert (harm <= none + 1e-12).mean() > 0.95
    assert harm.mean() < 0.5


def test_a_prior_is_learned_and_gives_up_what_is_not_worth_it():
    effects = np.array([-1.0, -0.5, 0.0, 0.5, 1.0])
    rng, n = np.random.default_rng(3), 4000
    truth = rng.choice(effects, n, p=[0.0, 0.3, 0.5, 0.0, 0.2])
    learned = prior(effects, truth + 0.3 * rng.normal(size=n), np.full(n, 0.3), np.full(5, 0.2))
    assert learned == pytest.approx([0.0, 0.3, 0.5, 0.0, 0.2], abs=0.05)
    assert prior(effects, [], [], np.ones(5)) == pytest.approx(np.full(5, 0.2))
    assert chance(effects, learned, -0.5, 0.3) < 0.02 < 0.9 < chance(effects, learned, 1.2, 0.3)
    assert chance(effects, learned, 0.0, np.inf) == pytest.approx(learned[3:].sum())
    assert posterior(effects, learned, [0.0, 1.0], [0.1, 0.1]).argmax(axis=1).tolist() == [2, 4]
