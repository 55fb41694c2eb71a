"""Scrambled Sobol' points of the unit cube, the same to the last bit as those of `scipy.stats.qmc.Sobol`.

The import of SciPy's takes more processor time than a proposal. Older studies hold SciPy's points, so none may differ,
and the generator must end in the same state.

Notation:

    symbol   meaning                                                          shape
    d        dimension of the cube
    B        binary digits of a coordinate, BITS
    p        primitive polynomial over {0, 1}, as a number, of degree s
    m_k      initial direction numbers, odd and below 2**k, k = 1 ... s
    V        direction numbers: a point is the exclusive or of some V[:, k]   (d, B)
    L        lower triangular matrices of digits, their diagonals one         (d, B, B)
    e        digital shift                                                    (d,)

Sources:

    BF88     Bratley and Fox, Algorithm 659: implementing Sobol's quasirandom sequence generator, ACM TOMS 14, 1988.
    JK08     Joe and Kuo, Constructing Sobol' sequences with better two-dimensional projections, SIAM J. Sci. Comput.
             30, 2008: p and m_k, of the file new-joe-kuo-6.21201 at https://web.maths.unsw.edu.au/~fkuo/sobol/.
             Copyright (c) 2008, Frances Y. Kuo and Stephen Joe. BSD 3-Clause. Taken from SciPy, BSD 3-Clause.
    M98      Matousek, On the L2-discrepancy for anchored boxes, Journal of Complexity 14, 1998: the scrambling.
"""

from functools import cache

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from equipoise._typing import FloatArray

BITS = 30
"""Binary digits of a coordinate: SciPy's default."""

DIRECTIONS = """
3:1 7:1,3 11:1,3,1 13:1,1,1 19:1,1,3,3 25:1,3,5,13 37:1,1,5,5,17 41:1,1,5,5,5 47:1,1,7,11,19 55:1,1,5,1,1
59:1,1,1,3,11 61:1,3,5,5,31 67:1,3,3,9,7,49 91:1,1,1,15,21,21 97:1,3,1,13,27,49 103:1,1,1,15,7,5 109:1,3,1,15,13,25
115:1,1,5,5,19,61 131:1,3,7,11,23,15,103 137:1,3,7,13,13,15,69 143:1,1,3,13,7,35,63 145:1,3,5,9,1,25,53
157:1,3,1,13,9,35,107 167:1,3,1,5,27,61,31 171:1,1,5,11,19,41,61 185:1,3,5,3,3,13,69 191:1,1,7,13,1,19,1
193:1,3,7,5,13,19,59 203:1,1,3,9,25,29,41 211:1,3,5,13,23,1,55 213:1,3,7,3,13,59,17 229:1,3,1,3,5,53,69
239:1,1,5,5,23,33,13 241:1,1,7,7,1,61,123 247:1,1,7,9,13,61,49 253:1,3,3,5,3,55,33 285:1,3,1,15,31,13,49,245
299:1,3,5,15,31,59,63,97 301:1,3,1,11,11,11,77,249 333:1,3,1,11,27,43,71,9 351:1,1,7,15,21,11,81,45
355:1,3,7,3,25,31,65,79 357:1,3,1,1,19,11,3,205 361:1,1,5,9,19,21,29,157 369:1,3,7,11,1,33,89,185
391:1,3,3,3,15,9,79,71 397:1,3,7,11,15,39,119,27 425:1,1,3,1,11,31,97,225 451:1,1,1,3,23,43,57,177
463:1,3,7,7,17,17,37,71 487:1,3,1,5,27,63,123,213 501:1,1,3,5,11,43,53,133 529:1,3,5,5,29,17,47,173,479
539:1,3,3,11,3,1,109,9,69 545:1,1,1,5,17,39,23,5,343 557:1,3,1,5,25,15,31,103,499 563:1,1,1,11,11,17,63,105,183
601:1,1,5,11,9,29,97,231,363 607:1,1,5,15,19,45,41,7,383 617:1,3,7,7,31,19,83,137,221 623:1,1,1,3,23,15,111,223,83
631:1,1,5,13,31,15,55,25,161 637:1,1,3,13,25,47,39,87,257
"""
"""JK08, dimensions 2 to 64, each as p:m_1,...,m_s. The first dimension has no polynomial, and m_k = 1 for all k."""

MAX_DIMENSION = 64
"""Beyond it SciPy makes the points: few studies have more parameters, and the whole table has 589 kB."""


def scrambled(dimension: int, log2: int, rng: Generator) -> FloatArray:
    """Return the first 2**log2 points of a Sobol' sequence, scrambled, shape (2**log2, dimension).

    A child of the generator is spawned, as SciPy does; the generator itself draws nothing.

    Example:
        >>> points = scrambled(2, 3, np.random.default_rng(0))
        >>> np.sort(np.floor(8 * points), axis=0).T  # one point in each eighth, in both dimensions
        array([[0., 1., 2., 3., 4., 5., 6., 7.],
               [0., 1., 2., 3., 4., 5., 6., 7.]])
    """
    if dimension > MAX_DIMENSION:
        return _by_scipy(dimension, log2, rng)
    child = rng.spawn(1)[0]
    e = child.integers(2, size=(dimension, BITS), dtype=np.uint32) @ _weights()
    L = child.integers(2, size=(dimension, BITS, BITS), dtype=np.uint32)
    V = _mixed(np.stack([_direction_numbers(j) for j in range(dimension)]), L)
    return _points(e, V[:, :log2].T) * np.float64(2.0**-BITS)


def _points(e: NDArray[np.uint32], V: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """Return points in the order of the Gray code, in which neighbors differ by one direction number."""
    points = np.empty((2 ** len(V), len(e)), dtype=np.uint32)
    points[0] = e
    for k in range(len(V)):
        n = 2**k
        # The Gray code of i is i ^ (i >> 1): digit k of i stands for digits k and k - 1 of its code.
        step = V[k] ^ V[k - 1] if k else V[k]
        np.bitwise_xor(points[:n], step, out=points[n : 2 * n])
    return points


def _mixed(V: NDArray[np.uint32], L: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """Return direction numbers multiplied by random matrices, modulo two: M98's linear scrambling."""
    weights = _weights()[::-1]  # the first digit weighs most
    rows = (np.tril(L, -1) + np.eye(BITS, dtype=np.uint32)) @ weights  # each row of L as a number, (d, B)
    odd = np.bitwise_count(rows[:, :, None] & V[:, None, :]) & 1  # digits of L V, first digit first, (d, B, B)
    mixed: NDArray[np.uint32] = np.moveaxis(odd, 1, 2) @ weights
    return mixed


def _weights() -> NDArray[np.uint32]:
    return np.uint32(1) << np.arange(BITS, dtype=np.uint32)


@cache
def _direction_numbers(j: int) -> NDArray[np.uint32]:
    """Return V[j], the direction numbers of one dimension."""
    p, m = _parameters(j)
    s = len(m)
    V = [m_k << (BITS - k) for k, m_k in enumerate(m, 1)]
    for k in range(s, BITS):
        new = V[k - s] >> s  # BF88 Sec. 2, here with all numbers scaled by 2**B
        for i in range(1, s + 1):
            new ^= V[k - i] * (p >> (s - i) & 1)
        V.append(new)
    return np.array(V, dtype=np.uint32)


def _parameters(j: int) -> tuple[int, list[int]]:
    """Return p and m of one dimension."""
    if j == 0:
        return 1, [1] * BITS
    p, m = DIRECTIONS.split()[j - 1].split(":")
    return int(p), [int(m_k) for m_k in m.split(",")]


def _by_scipy(dimension: int, log2: int, rng: Generator) -> FloatArray:
    from scipy.stats import qmc  # slow to import

    points: FloatArray = qmc.Sobol(dimension, rng=rng).random_base2(log2)
    return points
