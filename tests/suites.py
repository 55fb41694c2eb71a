"""What the contract tests run over: add a part here and every test that concerns it runs on it too."""

import numpy as np

import equipoise as eq

POLICIES = [
    eq.IDS(),
    eq.UCB(),
    eq.policies.Challenger(),
    eq.policies.DoubleThompson(),
    eq.policies.MaxInfo(),
    eq.policies.MaxMinLCB(),
]
BASELINES = [eq.reductions.Zero(), eq.reductions.RunningMean()]
REDUCTIONS = [eq.TwoPoint(), *(eq.OnePoint(baseline) for baseline in BASELINES), eq.Centered(), eq.Direct()]
SPACES = [
    eq.Finite(np.random.default_rng(0).uniform(-1, 1, (12, 2))),
    eq.Box([(-2, 2), (-1, 1)], candidates=32),
]


def fit(policy, reduction):
    """Whether the reduction can measure what the policy proposes."""
    compares = not isinstance(reduction, eq.Direct)
    return reduction.proposal_size in (None, policy.proposal_size) and not (compares and policy.proposal_size == 1)


COMBINATIONS = [(p, r, s) for p in POLICIES for r in REDUCTIONS for s in SPACES if fit(p, r)]
