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
    from equipoise.policies.bose import NEGLIGIBLE as NEGLIGIBLE
    from equipoise.policies.bose import TOLERANCE as TOLERANCE
    from equipoise.policies.bose import balanced as balanced
    from equipoise.policies.bose import coefficient as coefficient
    from equipoise.policies.challenger import SURELY as SURELY
    from equipoise.policies.challenger import safest as safest
    from equipoise.policies.eubo import expected_best as expected_best
    from equipoise.policies.eubo import once_each as once_each
    from equipoise.policies.ids import merits as merits
    from equipoise.policies.ids import probability as probability
    from equipoise.policies.maxmin_lcb import lower_bounds as lower_bounds
    from equipoise.policies.pairs import LARGEST as LARGEST
    from equipoise.policies.pairs import pairwise_psi as pairwise_psi
    from equipoise.policies.pairs import plausible as plausible
    from equipoise.policies.policy import Chance as Chance
    from equipoise.policies.policy import candidates as candidates
    from equipoise.policies.search import measured as measured
    from equipoise.policies.search import optimism as optimism
    from equipoise.policies.seeds import Seeds as Seeds
    from equipoise.policies.seeds import seeded as seeded
    from equipoise.policies.semits import RANK_TOLERANCE as RANK_TOLERANCE
    from equipoise.policies.semits import best_counts as best_counts
    from equipoise.policies.semits import factor as factor
    from equipoise.policies.semits import growing_scale as growing_scale
    from equipoise.policies.thompson import DRAWS as DRAWS
    from equipoise.policies.thompson import PROMISING as PROMISING
    from equipoise.policies.thompson import RANDOM as RANDOM
    from equipoise.policies.weighing import drawn as drawn
    from equipoise.policies.weighing import simplex as simplex
    from equipoise.policies.weighing import two_compromises as two_compromises
    from equipoise.policies.weighing import weighed as weighed
else:
    __getattr__ = lazily(__name__)
