"""Commands of `equipoise` that are too long for `cli.py`."""
