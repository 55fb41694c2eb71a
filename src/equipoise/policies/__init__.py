"""Policies: which points to propose, given the posterior."""

from typing import TYPE_CHECKING

from equipoise._lazy import lazily

if TYPE_CHECKING:  # public
    from equipoise.policies.bose import BOSE as BOSE
    from equipoise.policies.challenger import Challenger as Challenger
    from equipoise.policies.eubo import EUBO as EUBO
    from equipoise.policies.ids import IDS as IDS
    from equipoise.policies.max_info import MaxInfo as MaxInfo
    from equipoise.policies.maxmin_lcb import MaxMinLCB as MaxMinLCB
    from equipoise.policies.pair_ids import PairIDS as PairIDS
    from equipoise.policies.policy import Policy as Policy
    from equipoise.policies.random import Random as Random
    from equipoise.policies.semits import SemiTS as SemiTS
    from equipoise.policies.semits import SemiTSPosterior as SemiTSPosterior
    from equipoise.policies.thompson import DoubleThompson as DoubleThompson
    from equipoise.policies.ucb import UCB as UCB

if TYPE_CHECKING:  # for the other packages of the library
    from equipoise.policies.bose import NEGLIGIBLE, TOLERANCE, balanced, coefficient
    from equipoise.policies.challenger import SURELY, safest
    from equipoise.policies.eubo import expected_best, once_each
    from equipoise.policies.ids import merits, probability
    from equipoise.policies.maxmin_lcb import lower_bounds
    from equipoise.policies.pairs import LARGEST, pairwise_psi, plausible
    from equipoise.policies.policy import Chance, candidates
    from equipoise.policies.search import measured, optimism
    from equipoise.policies.seeds import Seeds, seeded
    from equipoise.policies.semits import RANK_TOLERANCE, best_counts, factor, growing_scale
    from equipoise.policies.thompson import DRAWS, PROMISING, RANDOM
    from equipoise.policies.weighing import drawn, simplex, two_compromises, weighed
else:
    __getattr__ = lazily(__name__)
