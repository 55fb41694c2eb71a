"""Integrations: Optuna, gest-api and Xopt. Each module needs the extra of its name."""
