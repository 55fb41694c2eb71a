"""The program runs on arrays of any library of the array API, and does the same there."""

import subprocess
import sys
from importlib.util import find_spec

import numpy as np
import pytest

import equipoise as eq
from equipoise.belief.arrays import namespace, pick
from equipoise.lab.environments import linear
from equipoise.lab.fleet import Blueprint, OwnCoins, SharedCoins
from equipoise.lab.fleet.array_math import to_numpy
from equipoise.log import PROPOSE, Streams
from equipoise.policies import Random

LEARNERS = 5


LIBRARIES = [name for name in ("array_api_strict", "torch") if find_spec(name)]


@pytest.fixture(params=LIBRARIES)
def library(request):
    return pytest.importorskip(request.param)


def rounds(blueprint, like, coins, number=12):
    """Play some rounds against fixed values and return the final means, as NumPy's."""
    beliefs, last = blueprint.prior(LEARNERS, like), None
    xp = namespace(beliefs.mean)
    values = np.random.default_rng(0).standard_normal((LEARNERS, blueprint.points.shape[-2]))
    told = xp.asarray(values, dtype=beliefs.mean.dtype)
    for n in range(number):
        duels = blueprint.propose(beliefs, coins.at(n, PROPOSE), last)
        y = xp.stack([pick(told, duels.points[:, k]) for k in range(duels.points.shape[1])], axis=-1)
        beliefs, last = blueprint.learn(beliefs, duels, y), duels.directions
    leaders = coins.at(0, PROPOSE).argmax(beliefs.mean)
    return to_numpy(beliefs.mean), to_numpy(beliefs.gap_bounds(leaders))


PARTS = [
    (eq.UCB(), None, False),
    (eq.IDS(), eq.TwoPoint(), False),
    (eq.IDS(), eq.OnePoint(), False),
    (eq.Challenger(), eq.TwoPoint(), False),
    (eq.DoubleThompson(), eq.TwoPoint(), False),
    (Random(), None, False),
    (eq.BOSE(), None, False),
    (eq.SemiTS(draws=50), None, True),
]


@pytest.mark.parametrize("kernel", [eq.Linear(), eq.RBF(0.7)], ids=repr)
@pytest.mark.parametrize(("policy", "reduction", "semiparametric"), PARTS, ids=repr)
@pytest.mark.parametrize("shared", [False, True])
def test_every_library_does_the_same(library, policy, reduction, semiparametric, kernel, shared):
    points = [linear(actions=7, dimension=3, rng=i).points for i in range(LEARNERS)]
    confidence = eq.PaperConfidence()
    blueprint = Blueprint(points[0] if shared else points, kernel, policy, reduction, confidence, 0.5, semiparametric)
    coins = [OwnCoins([Streams(i) for i in range(LEARNERS)]) for _ in range(2)]
    like = library.zeros(1, dtype=library.float64)
    for here, there in zip(rounds(blueprint, None, coins[0]), rounds(blueprint, like, coins[1]), strict=True):
        assert there == pytest.approx(here, abs=1e-9)


def test_coins_of_one_stream_are_the_same_too(library):
    points = [linear(actions=7, dimension=3, rng=i).points for i in range(LEARNERS)]
    blueprint = Blueprint(points, eq.Linear(), eq.IDS(), confidence=eq.TightConfidence())
    coins = [SharedCoins(np.random.default_rng(1)) for _ in range(2)]
    like = library.zeros(1, dtype=library.float64)
    for here, there in zip(rounds(blueprint, None, coins[0]), rounds(blueprint, like, coins[1]), strict=True):
        assert there == pytest.approx(here, abs=1e-9)


def test_single_precision_is_kept(library):
    blueprint = Blueprint([[0.0], [0.5], [1.0]], eq.RBF(0.5), eq.IDS())
    beliefs = blueprint.prior(LEARNERS, library.zeros(1, dtype=library.float32))
    throws = SharedCoins(np.random.default_rng(0)).at(0, PROPOSE)
    duels = blueprint.propose(beliefs, throws)
    learned = blueprint.learn(beliefs, duels, library.ones((LEARNERS, 2), dtype=library.float32))
    assert {learned.mean.dtype, learned.variance.dtype, learned.log_det.dtype} == {library.float32}


def test_numpy_needs_no_other_package():
    code = (
        "import sys; sys.modules['array_api_compat'] = None\n"
        "import numpy as np, equipoise as eq\n"
        "from equipoise.lab.fleet import Fleet, Blueprint\n"
        "fleet = Fleet(['a', 'b'], Blueprint([[0.0], [1.0]], eq.RBF(0.5)), rng=0)\n"
        "fleet.ask(); fleet.tell([1.0, 2.0])\n"
        "from equipoise.belief.arrays import namespace\n"
        "try:\n    namespace([1.0])\nexcept ImportError as error:\n    print(error)\n"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert said == "arrays of builtins need array-api-compat: install equipoise[gpu]\n"
