"""Optuna: a sampler whose trials are duels. `DuelSampler` has an example.

One trial is one duel: `paired` measures the trial's parameters and those of a rival inside one trial, in random order,
and reports the difference, in which the offset cancels. All state is in the study's storage, so any number of workers
may share a study, and any of them may die. `study.best_trial` is the luckiest difference: ask `best_params` instead.
"""

try:
    from equipoise.integrations.optuna.objective import paired
    from equipoise.integrations.optuna.racing import RacePruner, raced
    from equipoise.integrations.optuna.records import Unreadable
    from equipoise.integrations.optuna.sampler import DuelSampler, NotModeled, best_params, front, recommend
except ImportError as error:
    raise ImportError(f'duels in Optuna need more packages: pip install "equipoise[optuna]" ({error})') from error

__all__ = ["DuelSampler", "NotModeled", "RacePruner", "Unreadable"]
__all__ += ["best_params", "front", "paired", "raced", "recommend"]
