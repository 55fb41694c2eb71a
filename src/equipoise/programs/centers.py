r"""What is claimed of paired differences, each with an interval that holds at every time of looking.

    symbol   meaning                                                            shape
    d        paired differences of two arms, a round each                       (n,)

*Typical* (the default) is the center of symmetry, the Hodges-Lehmann pseudo-median. The order within a round is random,
so two arms that do not differ give differences whose signs are coins, whatever the host does and whatever the tails
are: `answer/sequential` bets on them, here and where a study verifies its best setting. Of readings that come in steps,
as passes do, it is the mean.

*Median* is exact for the median of any law, at the price of about half as many rounds again. *Mean* is for users who
pay for the sum of all times; it is exact for normal noise only, and heavy tails make it wide.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from equipoise.answer.sequential import Interval, anytime, median, paired, typical, wealth

__all__ = ["CENTERS", "Center", "median", "typical", "typical_reading", "wealth"]

Center = Callable[[ArrayLike, float], Interval]
"""From differences and alpha to what is claimed of them."""


def typical_reading(differences: ArrayLike, alpha: float = 0.05) -> Interval:
    """Return the typical difference of readings that may come in steps, as passes do: of these, the mean.

    Differences that are all the same are taken as exact, as those of programs that count.

    Example:
        >>> typical_reading([2.0] * 9)
        Interval(value=2.0, low=2.0, high=2.0)
        >>> round(typical_reading([2.0] * 8 + [0.0]).low, 2)
        0.08
    """
    return (
        typical(differences, alpha) if np.size(differences) and not np.ptp(differences) else paired(differences, alpha)
    )


CENTERS: dict[str, Center] = {"typical": typical, "median": median, "mean": anytime}
"""What can be claimed, by name."""
