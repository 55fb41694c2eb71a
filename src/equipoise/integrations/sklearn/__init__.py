"""scikit-learn: a search that compares settings on the same split. `DuelSearchCV` has an example.

The score of a fit depends on the split, and on the seed of the estimator, more than on small changes of a setting. So
two settings are fitted on the same split with the same seed, and the effect of split and seed cancels.
"""

try:
    from equipoise.integrations.sklearn.duel_search import DuelSearchCV
except ImportError as error:
    raise ImportError(f'DuelSearchCV needs more packages: pip install "equipoise[sklearn]" ({error})') from error

__all__ = ["DuelSearchCV"]
