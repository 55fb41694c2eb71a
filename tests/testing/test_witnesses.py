"""The suite finds broken parts: each rule has a witness, a part that breaks this rule only."""

import itertools
import subprocess
import sys
from dataclasses import dataclass, replace
from types import SimpleNamespace

import numpy as np
import pytest

import equipoise as eq
from equipoise import testing
from equipoise.kernels import Kernel, Scaled
from equipoise.lab.environments import Function, additive, camelback
from equipoise.reductions import RunningMean, Zero
from equipoise.testing import (
    bias_rules,
    forecaster_rules,
    function_rules,
    kernel_rules,
    likelihood_rules,
    offset_rules,
    policy_rules,
    reduction_rules,
    space_rules,
)

count = itertools.count()


class Broken:
    """A good part, but for what is said."""

    def __init__(self, good, call=None, **wrong):
        self.__dict__.update(good=good, call=call, **wrong)

    def __getattr__(self, name):
        if name in ("good", "call") or name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.good, name)

    def __call__(self, *args):
        return (self.call or self.good)(*args)

    def __repr__(self):
        return f"Broken({self.good!r})"


class Unspeakable(Broken):
    def __repr__(self):
        raise RuntimeError("no words")


def fails_late(good, calls):
    """A callable that fails after this many calls."""
    left = iter(range(calls))

    def call(*args):
        if next(left, None) is None:
            raise RuntimeError("worn out")
        return good(*args)

    return call


# --- policies -------------------------------------------------------------------------------------------------------


def policy(choose, **wrong):
    """A policy that proposes one of the candidates, by a function of the belief."""
    return Broken(eq.UCB(), lambda belief, rng: eq.Proposal.single(belief.points[choose(belief)]), **wrong)


def overwrites(belief, rng):
    belief.mean[:] = 0.0
    return eq.UCB()(belief, rng)


by_turns = policy(lambda belief: next(count) % len(belief.points))
POLICIES = {
    "declares_itself": Broken(eq.UCB(), reduction=eq.TwoPoint()),
    "proposes_candidates": Broken(eq.UCB(), lambda belief, rng: eq.Proposal.single(belief.points[0] + 0.1)),
    "gives_probabilities": Broken(eq.IDS(), lambda belief, rng: eq.Proposal(belief.points[[0, 0]], np.full(2, 0.7))),
    "has_its_size": Broken(eq.IDS(), lambda belief, rng: eq.Proposal.single(belief.points[0])),
    "depends_on_its_stream_alone": by_turns,
    "leaves_the_belief_alone": Broken(eq.UCB(), overwrites),
    "ignores_the_level": policy(lambda belief: int(np.max(belief.mean) > 10)),
    "ignores_the_unit": policy(lambda belief: int(np.max(belief.variance) > 100)),
    "scores_have_their_slopes": Broken(eq.UCB(), scores=(lambda g, psi, *_: (psi - g, 0 * g + 1, 0 * psi + 1),)),
    "works_in_a_study": Broken(eq.UCB(), fails_late(eq.UCB(), 5)),
    "is_resumed": by_turns,
    "is_described": Unspeakable(eq.UCB()),
    "pickles": Broken(eq.UCB(), lambda belief, rng: None),
}

# --- offsets --------------------------------------------------------------------------------------------------------

BLOCKS = eq.Blocks(3)
(LEVEL,) = BLOCKS.hyperparameters


def reads_a_triangle_twice(moments):
    def gradient(values, W):
        (D,) = BLOCKS.derivatives(values, moments, moments)
        return np.array([0.5 * np.vdot(W + W.T, D)])

    return SimpleNamespace(covariance=BLOCKS.prepared(moments).covariance, gradient=gradient)


OFFSETS = {
    "declares_itself": Broken(BLOCKS, guard=-1.0),
    "guesses_within_bounds": Broken(BLOCKS, hyperparameters=(LEVEL._replace(guess=1e9),)),
    "covariance_is_one": Broken(BLOCKS, covariance=lambda values, a, b: -BLOCKS.covariance(values, a, b)),
    "blocks_agree": Broken(BLOCKS, covariance=lambda values, a, b: BLOCKS.covariance(values, a, b) + len(a.time)),
    "derivatives_match": Broken(BLOCKS, derivatives=lambda values, a, b: (np.ones((len(a.time), len(b.time))),)),
    "prepared_agrees": Broken(BLOCKS, prepared=reads_a_triangle_twice),
    "calm_keeps_the_bounds": Broken(BLOCKS, calm=lambda values: (0.0,)),
    "estimates_numbers": Broken(BLOCKS, estimate=lambda moments, readings: (float(readings.sum()),)),
    "is_fitted": Broken(BLOCKS, prepared=lambda moments: 1 / 0),
    "is_resumed": Broken(BLOCKS, covariance=lambda values, a, b: BLOCKS.covariance(values, a, b) + 1e-3 * next(count)),
}

# --- likelihoods ----------------------------------------------------------------------------------------------------

POISSON = eq.likelihoods.Poisson()


def tilted(change):
    """Counts whose tilt is wrong."""
    return Broken(POISSON, tilt=lambda y, mu, v: change(POISSON.tilt(y, mu, v), v))


LIKELIHOODS = {
    "declares_itself": Broken(POISSON, exact=True),
    "reads_what_is_written": Broken(POISSON, example="17 counts"),
    "refuses_nonsense": Broken(POISSON, check=lambda name, value: (0.0,)),
    "derivatives_match": tilted(lambda found, v: replace(found, slope=-found.slope)),
    "beliefs_mix": tilted(lambda found, v: replace(found, log_z=found.log_z + 0.1 * v)),
    "is_log_concave": tilted(lambda found, v: replace(found, curvature=-found.curvature)),
    "broadcasts": tilted(lambda found, v: replace(found, log_z=found.log_z + len(v))),
    "glance_is_near": Broken(POISSON, glance=lambda y: (y[:, 0], np.ones(len(y)))),
    "survives_extremes": tilted(lambda found, v: replace(found, log_z=np.where(v > 100, np.nan, found.log_z))),
    "expects_more_of_more": Broken(POISSON, expected=lambda u: 2 * np.exp(u)),
}

# --- reductions -----------------------------------------------------------------------------------------------------


class FirstReading(eq.Duel):
    """A reduction that breaks one rule: only the first reading counts."""

    def outcome(self, readings):
        return 2.0 * self.signs[0] * readings[0]


def two_point(change):
    """The two-point reduction with its duels changed."""
    return Broken(eq.TwoPoint(), lambda proposal, rng, baseline=0.0: change(eq.TwoPoint()(proposal, rng, baseline)))


def ordered(turned):
    """A pair measured in an order that is no coin's."""

    def call(proposal, rng, baseline=0.0):
        first, second = proposal.points[:2]
        if turned():
            return eq.Duel(proposal, proposal.points[1::-1], (-1.0, 1.0), first, second)
        return eq.Duel(proposal, proposal.points[:2], (1.0, -1.0), first, second)

    return Broken(eq.TwoPoint(), call)


alternating = ordered(lambda: next(count) % 2)
REDUCTIONS = {
    "declares_itself": Broken(eq.TwoPoint(), baseline=3.0),
    "measures_the_proposal": two_point(lambda duel: replace(duel, points=duel.points + 0.5)),
    "refuses_other_sizes": ordered(lambda: False),
    "depends_on_its_stream_alone": alternating,
    "passes_the_forecast_on": Broken(
        eq.OnePoint(RunningMean()), lambda proposal, rng, c=0.0: eq.OnePoint()(proposal, rng)
    ),
    "estimates_the_difference": two_point(lambda duel: replace(duel, signs=tuple(2 * s for s in duel.signs))),
    "cancels_the_offset": ordered(lambda: False),
    "withstands_an_adversary": alternating,
    "teaches_by_the_one_rule": two_point(
        lambda duel: FirstReading(duel.proposal, duel.points, duel.signs, duel.first, duel.second)
    ),
    "is_written": two_point(lambda duel: replace(duel, second=eq.Proposal.pair(*duel.points))),
    "works_in_a_study": Broken(eq.TwoPoint(), fails_late(eq.TwoPoint(), 3)),
    "is_resumed": alternating,
}

# --- forecasters ----------------------------------------------------------------------------------------------------


class Changing:
    level = 0.0

    def predict(self, midpoint):
        return self.level + midpoint

    def update(self, reading, predicted):
        self.level = reading - predicted
        return self


@dataclass(frozen=True)
class Odd(RunningMean):
    """The mean of all offsets, misused."""

    how: object = None

    def predict(self, midpoint):
        return self.how(self, midpoint)

    def update(self, reading, predicted):
        n = self.readings + 1
        return replace(self, mean=self.mean + (reading - predicted - self.mean) / n, readings=n)


FORECASTERS = {
    "declares_itself": Broken(Zero(), update=lambda reading, predicted: None),
    "stays_as_it_is": Changing(),
    "forecasts_numbers": Odd(how=lambda self, midpoint: 2.0**self.readings),
    "learns_a_level": Zero(),
    "ignores_the_unit": Odd(how=lambda self, midpoint: min(self.mean, 5.0)),
    "works_in_a_study": Odd(how=lambda self, midpoint: 1.0 / (self.readings < 3)),
    "is_resumed": Odd(how=lambda self, midpoint: float(next(count))),
}

# --- kernels --------------------------------------------------------------------------------------------------------


class NoValue(Kernel):
    def __init__(self):
        self.lengthscale = 0.3

    def _matrix(self, A, B):
        return np.ones((len(A), len(B)))

    _diagonal = _gradient = None


def kernel(**methods):
    """A kernel with some methods of its own."""
    return type("Odd", (eq.RBF,), methods)(0.3)


def matrix(change):
    return kernel(_matrix=lambda self, A, B: change(eq.RBF(0.3)(A, B)))


KERNELS = {
    "is_a_value": NoValue(),
    "covariance_is_one": matrix(lambda K: -K),
    "diagonal_agrees": kernel(_diagonal=lambda self, A: np.full(A.shape[:-1], 2.0)),
    "blocks_agree": matrix(lambda K: K / len(K)),
    "gradient_matches": kernel(with_gradient=lambda self, A, B: (self(A, B), -eq.RBF(0.3).gradient(A, B))),
    "with_gradient_agrees": kernel(with_gradient=lambda self, A, B: (2 * self(A, B), eq.RBF(0.3).gradient(A, B))),
    "combines": kernel(__rmul__=lambda self, factor: Scaled(self, factor + 1)),
    "works_in_a_study": matrix(lambda K: K if K.shape[1] < 6 else 1 / 0),
    "is_resumed": matrix(lambda K: K * (1 + 1e-3 * next(count))),
}

# --- spaces ---------------------------------------------------------------------------------------------------------

BOX = eq.Box([(0, 1), (0, 2)], candidates=16)
SPACES = {
    "describes_its_coordinates": Broken(BOX, extent=np.zeros(2)),
    "offers_valid_points": Broken(BOX, candidates=lambda rng: BOX.candidates(rng) + 2),
    "has_parts": Broken(BOX, through=lambda point: Broken(BOX, dimension=3)),
    "lies_in_the_unit_cube": Broken(BOX, snap=lambda points: points),
    "depends_on_its_stream_alone": Broken(
        BOX, candidates=lambda rng: BOX.candidates(np.random.default_rng(next(count)))
    ),
    "comes_back": Broken(BOX, encode=lambda x: BOX.encode(x) ** 2),
    "encodes_equal_settings_alike": Broken(BOX, encode=lambda x: BOX.encode(x) + 1e-13 * next(count)),
    "decodes_to_new_objects": Broken(BOX, decode=lambda point: point),
    "snaps_once": Broken(BOX, snap=lambda points: points / 2),
    "refuses_nonsense": Broken(BOX, encode=lambda x: np.zeros(2)),
    "is_described": Broken(BOX, to_dict=lambda: {"type": "ball", "bounds": (0, 1)}),
    "works_in_a_study": Broken(BOX, candidates=lambda rng: np.empty((0, 2))),
    "is_resumed": Broken(BOX, to_dict=lambda: {"type": "ball", "number": next(count)}),
}

# --- biases and functions -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Made:
    """A bias whose process gives what a function says."""

    offset: object

    def start(self, rng):
        return SimpleNamespace(offset=self.offset, record=lambda reading: None)


class Nameless:
    def start(self, rng):
        return SimpleNamespace(offset=lambda: 0.0, record=lambda reading: None)


def peek():
    return float(sys._getframe(1).f_locals["value"])


BIASES = {
    "starts_a_process": Made(lambda x: 0.0),
    "gives_numbers": Made(lambda: float("nan")),
    "is_fixed_before_the_point": Made(peek),
    "depends_on_its_stream_alone": Made(lambda: float(next(count))),
    "goes_on_from_a_copy": Made(lambda: 0.0),
    "is_a_value": Nameless(),
}


class Lost(Function):
    def locate(self, x):
        return np.zeros(2), 0.0


CAMELBACK = camelback()
FUNCTIONS = {
    "has_its_optimum_inside": replace(CAMELBACK, maximizer=[3.0, 3.0]),
    "attains_its_maximum": replace(CAMELBACK, maximum=2.0),
    "never_exceeds_its_maximum": replace(CAMELBACK, maximum=1.0),
    "takes_many_points_at_once": replace(CAMELBACK, evaluate=lambda x: x[0] * 1.0),
    "is_a_function": replace(CAMELBACK, evaluate=lambda x: x[..., 0] + next(count)),
    "locates_points": Lost(**vars(CAMELBACK)),
    "is_the_sum_of_its_parts": replace(additive(2, rng=0), parts=additive(2, rng=1).parts),
    "pickles_alike": replace(CAMELBACK, evaluate=lambda x: x[..., 0]),
}

SHARED = {"is_described", "pickles"}  # one witness is enough
KINDS = [
    (testing.check_policy, policy_rules.RULES, POLICIES),
    (testing.check_offset, offset_rules.RULES, OFFSETS),
    (testing.check_likelihood, likelihood_rules.RULES, LIKELIHOODS),
    (testing.check_reduction, reduction_rules.RULES, REDUCTIONS),
    (testing.check_forecaster, forecaster_rules.RULES, FORECASTERS),
    (testing.check_kernel, kernel_rules.RULES, KERNELS),
    (testing.check_space, space_rules.RULES, SPACES),
    (testing.check_bias, bias_rules.RULES, BIASES),
    (testing.check_function, function_rules.RULES, FUNCTIONS),
]
WITNESSES = [(check, rules, name, part) for check, rules, parts in KINDS for name, part in parts.items()]


@pytest.mark.parametrize(("check", "rules", "parts"), KINDS, ids=lambda value: getattr(value, "__name__", ""))
def test_every_rule_has_a_witness(check, rules, parts):
    known = {rule.__name__ for rule in rules}
    assert len(known) == len(rules)
    assert known - SHARED <= set(parts) <= known
    assert all(rule.__doc__.partition("\n\n")[0].endswith(".") for rule in rules)


@pytest.mark.parametrize(
    ("check", "rules", "name", "part"), WITNESSES, ids=lambda value: value if isinstance(value, str) else ""
)
def test_a_witness_breaks_its_rule(check, rules, name, part):
    others = {rule.__name__ for rule in rules} - {name}
    with pytest.raises(AssertionError, match=f"breaks `{name}`: .*Found: "):
        check(part, without=others)
    assert check.__name__ in testing.__all__


def test_the_old_faults_are_found():
    """What issue 9 found by trying: a reduction of three readings of which only the first counted."""

    def aba(proposal, rng, baseline=0.0):
        first, second = proposal.points
        return eq.Duel(proposal, proposal.points[[0, 1, 0]], (0.5, -1.0, 0.5), first, second)

    with pytest.raises(AssertionError, match="breaks `cancels_the_offset`"):  # no coin: an offset (0, 1, 0) moves it
        testing.check_reduction(Broken(eq.TwoPoint(), aba), without=["refuses_other_sizes"])


def test_a_rule_that_does_not_exist_cannot_be_left_out():
    with pytest.raises(ValueError, match=r"`without` must name some of declares_itself, .*, got nonsense"):
        testing.check_offset(eq.Blocks(3), without=["nonsense"])


def test_the_suite_needs_numpy_only_and_comes_when_asked_for():
    code = (
        "import sys, equipoise as eq; assert 'equipoise.testing' not in sys.modules; eq.testing.check_bias;"
        "assert not {'pytest', 'hypothesis', 'matplotlib', 'optuna'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
