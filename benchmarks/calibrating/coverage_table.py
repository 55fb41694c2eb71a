"""Do calibrated bounds hold, and how wide are they: by family and by offset, on families that were left out."""

from collections.abc import Sequence

import numpy as np

from calibrating.function_families import FAMILIES, RANGE
from calibrating.trial_studies import OFFSETS, Row
from equipoise.answer import Calibrated
from equipoise.lab.experiments import markdown

LOOKS = (60, 100, 200)
"""Numbers of readings of the columns."""

GROUPS = {"2 to 4 knobs": (1, 4), "5 to 8 knobs": (5, 8)}


def coverage_table(rows: Sequence[Row], rule: Calibrated) -> str:
    """Return how often the bound of a rule held, in percent, and its median over the range; by knobs, family, offset.

    Families with needles and cusps have their own lines.
    """
    hard = {name for name, family in FAMILIES.items() if family.needle or family.cusp}
    usual = [row for row in rows if row["family"] not in hard and row["knobs"] <= GROUPS["5 to 8 knobs"][1]]
    parts = {"all": usual}
    for name, (least, most) in GROUPS.items():
        parts[name] = [row for row in usual if least <= row["knobs"] <= most]
    parts |= {name: [row for row in rows if row["family"] == name] for name in FAMILIES}
    parts |= {f"offset: {name}": [row for row in usual if row["offset"] == name] for name in OFFSETS}
    lines = [[name, *(_cell(some, rule, n) for n in LOOKS)] for name, some in parts.items() if some]
    return markdown(["", *(f"at {n} readings" for n in LOOKS)], lines)


def _cell(rows: Sequence[Row], rule: Calibrated, readings: int) -> str:
    """Return runs, how often the bound held and its median over the range, at a number of readings."""
    bounds = [(rule.bound(row["signs"]), row["regret"]) for row in rows if row["readings"] == readings]
    known = np.array([each for each in bounds if np.isfinite(each[0])])
    if not len(known):
        return "no bound" if bounds else "-"
    held = 100 * (known[:, 1] <= known[:, 0]).mean()
    return f"{held:.0f} % of {len(known)}, {np.median(known[:, 0]) / RANGE:.3f}"
