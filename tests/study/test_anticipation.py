"""Many open trials: an ask anticipates what is new, and comes to the same as if it had anticipated everything."""

import copy

import pytest

import equipoise as eq
from equipoise.belief import AnywherePosterior
from studies import BOX, FINITE, KERNEL, value_at

STUDIES = {
    "given": lambda: eq.Optimizer(BOX, kernel=KERNEL, rng=0),
    "finite": lambda: eq.Optimizer(FINITE, kernel=KERNEL, policy=eq.IDS(), rng=0),
    "learned": lambda: eq.Optimizer(BOX, rng=0),
    "one point": lambda: eq.Optimizer(FINITE, kernel=KERNEL, policy=eq.UCB(), rng=0),
}


@pytest.mark.parametrize("make", STUDIES.values(), ids=STUDIES)
def test_what_is_kept_of_open_duels_is_what_would_be_anticipated_anew(make):
    opt, steps = make(), iter("aaatatafaeataa" * 3)
    for step in steps:
        again = copy.deepcopy(opt)
        again._state = again._state.rebuilt()  # knows the events, and has anticipated nothing
        trial, other = opt.ask(worker="w"), again.ask(worker="w")
        assert (trial.id, trial.x.tobytes()) == (other.id, other.x.tobytes())
        if step == "t":
            opt.tell(trial, value_at(trial))
        elif step == "f":
            with pytest.warns(eq.DuelGivenUp):
                opt.tell(trial, failed="no")
        elif step == "e":
            opt.expire(trial)


def test_an_ask_anticipates_only_what_is_new(monkeypatch):
    calls = []
    real = AnywherePosterior.anticipate
    monkeypatch.setattr(AnywherePosterior, "anticipate", lambda self, datum: calls.append(1) or real(self, datum))
    opt = eq.Optimizer(BOX, kernel=KERNEL, rng=0)
    for _ in range(60):
        opt.ask()
    assert len(calls) == 29  # each duel but the last one, once
