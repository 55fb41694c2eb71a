"""Policies: which points to propose, given the posterior."""

from equipoise.policies.ids import IDS
from equipoise.policies.policy import Policy
from equipoise.policies.ucb import UCB

__all__ = ["IDS", "UCB", "Policy"]
