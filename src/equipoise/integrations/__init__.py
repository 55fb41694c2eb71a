"""Integrations: Optuna, scikit-learn, gest-api, Xopt, pytest. Each of the first four needs the extra of its name."""
