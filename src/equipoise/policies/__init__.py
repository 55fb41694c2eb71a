"""Policies: which points to propose, given the posterior."""

from equipoise.policies.bose import BOSE
from equipoise.policies.challenger import Challenger
from equipoise.policies.eubo import EUBO
from equipoise.policies.ids import IDS
from equipoise.policies.max_info import MaxInfo
from equipoise.policies.maxmin_lcb import MaxMinLCB
from equipoise.policies.pair_ids import PairIDS
from equipoise.policies.policy import Policy
from equipoise.policies.random import Random
from equipoise.policies.semits import SemiTS, SemiTSPosterior
from equipoise.policies.thompson import DoubleThompson
from equipoise.policies.ucb import UCB

__all__ = [
    "BOSE",
    "EUBO",
    "IDS",
    "UCB",
    "Challenger",
    "DoubleThompson",
    "MaxInfo",
    "MaxMinLCB",
    "PairIDS",
    "Policy",
    "Random",
    "SemiTS",
    "SemiTSPosterior",
]
