"""Pairs that are asked at once: all different, and the same ones again in a replay."""

import pytest

import equipoise as eq


@pytest.mark.parametrize("space", [eq.Finite(list("abcd")), eq.Space(n=eq.Int(0, 3)), eq.Space(q=eq.Float(0, 1))])
def test_pairs_that_are_asked_at_once_are_all_different(space, tmp_path):
    opt = eq.Optimizer(space, log=tmp_path / "study.jsonl", rng=0)
    pairs = opt.ask_pairs(6, judge="anna")
    assert len({frozenset(map(str, (pair.first, pair.second))) for pair in pairs}) == 6
    again = eq.resume(tmp_path / "study.jsonl")
    assert [(p.id, p.first, p.second) for p in again.study.open_pairs] == [(p.id, p.first, p.second) for p in pairs]


def test_there_are_not_more_than_there_are():
    opt = eq.Optimizer(eq.Finite(list("abc")), rng=0)
    opt.ask_pairs(3)
    with pytest.raises(RuntimeError, match="the judge has every pair of settings open"):
        opt.ask_pair()
    assert opt.ask_pair(judge="bert").judge == "bert"
    with pytest.raises(ValueError, match="`n` must be"):
        opt.ask_pairs(0)
