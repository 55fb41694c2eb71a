"""The belief that learns its own hyperparameters: when it fits, how well, how it finds jumps, in any unit."""

import copy
import itertools
import math
import pickle
from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize

import equipoise as eq
from equipoise.belief import LearnedBelief, LearnedModel, Schedule, refitting
from equipoise.belief.evidence import Evidence, typical_step
from equipoise.belief.model import Form, Priors

ARBITRARY, CONSTANT, TRACKED, BLOCKS = eq.Arbitrary(), eq.Constant(), eq.Tracked(), eq.Blocks(5)
POINTS = np.linspace(0, 1, 41)[:, None]


def hill(x):
    """Two hills, the right one the higher; range about 3."""
    return 2 * np.exp(-(((x - 0.75) / 0.15) ** 2)) + np.exp(-(((x - 0.25) / 0.15) ** 2)) - x


def fresh(law=TRACKED, d=1, **options):
    options = {name: value for name, value in options.items() if value is not None}
    return LearnedBelief.prior(LearnedModel(Form(np.ones(d), np.arange(d), law), **options))


def jumps(posterior):
    """Time and variance of each jump found."""
    assert posterior.fitted.jumps == posterior.exact.offset.jumps
    return posterior.exact.offset.jumps


def readings(n, offset=lambda t: 0.0, noise=0.1, seed=0):
    """Comparisons with nothing: plain readings at random points, times 1 to n."""
    rng = np.random.default_rng(seed)
    x, z = rng.random(n), rng.normal(size=n)
    y = [float(hill(x[i]) + offset(i + 1) + noise * z[i]) for i in range(n)]
    return [eq.Comparison([x[i]], None, y[i], time=i + 1.0) for i in range(n)]


def duels(n, noise=0.1, seed=0):
    rng = np.random.default_rng(seed)
    X, z = rng.random((n, 2)), rng.normal(size=n)
    outcome = hill(X[:, 0]) - hill(X[:, 1]) + math.sqrt(2) * noise * z
    return [eq.Comparison([a], [b], float(d)) for (a, b), d in zip(X, outcome, strict=True)]


def after(posterior, comparisons):
    for comparison in comparisons:
        posterior = posterior.condition(comparison)
    return posterior


def told(law, n=40, seed=0):
    return duels(n, seed=seed) if law == ARBITRARY else readings(n, seed=seed)


def belief(posterior):
    at = posterior.exact.at(POINTS)
    return at.mean.tobytes(), at.variance.tobytes(), posterior.hyperparameters, posterior.exact.comparisons


def shape_error(posterior):
    """Largest error of the differences to the point 0, over the points."""
    mean, _ = posterior.exact.difference(POINTS, POINTS[0])
    return float(np.abs(mean - (hill(POINTS[:, 0]) - hill(0.0))).max())


over_laws = pytest.mark.parametrize("law", [ARBITRARY, CONSTANT, TRACKED, BLOCKS], ids=repr)


# --- when it fits -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("schedule", [Schedule(), Schedule(first=9, growth=1.5), Schedule(first=1, growth=1.0)])
def test_the_schedule_grows(schedule):
    data = [schedule.above(0)]
    while data[-1] < 500:
        data.append(schedule.above(data[-1]))
    assert data[0] == schedule.first
    for now, then in itertools.pairwise(data):
        assert then == max(now + 2, math.ceil(schedule.growth * now))


@over_laws
@pytest.mark.parametrize("schedule", [None, Schedule(first=10, growth=1.5)])
def test_it_is_fitted_when_the_schedule_says_so_and_at_no_other_time(monkeypatch, law, schedule):
    fitted, fit = [], refitting.fit

    def counting(evidence, *rest):
        fitted.append(len(evidence.data.outcomes))
        return fit(evidence, *rest)

    monkeypatch.setattr(refitting, "fit", counting)
    posterior = after(fresh(law, schedule=schedule), told(law))
    schedule = posterior.model.schedule
    expected = [schedule.first]
    while (then := schedule.after(expected[-1])) <= 40:
        expected.append(then)
    assert sorted(set(fitted)) == expected
    before = len(fitted)
    for comparison in told(law, seed=1):
        posterior = posterior.anticipate_all([comparison])
    assert len(fitted) == before
    assert posterior.exact.comparisons == 80


@over_laws
def test_between_fits_it_is_the_posterior_of_its_kernel_noise_and_offset(law):
    comparisons = told(law, 37)
    posterior = after(fresh(law), comparisons)
    offset = posterior.exact.offset
    plain = eq.belief.AnywherePosterior(
        posterior.exact.kernel, posterior.exact.regularizer, posterior.exact.confidence, offset
    )
    origin = 0.0 if law == ARBITRARY else comparisons[0].outcome  # any constant: the first reading keeps numbers small
    for c in comparisons:
        plain = plain.condition(eq.Comparison(c.first, c.second, c.outcome - origin, c.time))
    for found, expected in zip(
        posterior.exact.difference(POINTS, POINTS[7]), plain.difference(POINTS, POINTS[7]), strict=True
    ):
        np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-9)
    assert posterior.exact.beta == pytest.approx(4 * posterior.exact.regularizer)  # two standard deviations


@over_laws
def test_a_fit_finds_the_largest_density_that_an_independent_search_finds(law):
    """Forty data are a time to fit by the schedule 10, 20, 40; no jumps, so the evidence is that of the data alone."""
    posterior = after(fresh(law, schedule=Schedule(first=10, growth=2.0)), told(law))
    data = posterior.exact.observations
    assert posterior.fitted.jumps == ()
    step = typical_step(data, law)
    assert posterior.hyperparameters.step == step
    relative = copy.copy(data)
    object.__setattr__(relative, "outcomes", data.outcomes / step)
    evidence, prior = Evidence(relative, posterior.form), Priors(posterior.form.table)

    def loss(theta):
        return -(evidence(theta)[0] + prior(theta)[0])

    rng = np.random.default_rng(0)
    starts = [prior.mean + prior.deviation * rng.normal(size=len(prior.mean)) for _ in range(5)]
    found = min(minimize(loss, start, method="L-BFGS-B", bounds=np.transpose(prior.bounds)).fun for start in starts)
    assert loss(posterior.hyperparameters.theta) <= found + 0.05  # in units of the logarithm


def test_before_the_first_fit_only_the_unit_is_learned():
    posterior = after(fresh(), readings(5))
    guess = posterior.form.guess(posterior.hyperparameters.step)
    assert posterior.hyperparameters == guess
    assert posterior.hyperparameters.step == typical_step(posterior.exact.observations, TRACKED)
    assert after(fresh(), readings(6)).hyperparameters.lengthscales != guess.lengthscales


def test_f_is_let_vary_as_much_as_it_was_seen_to(monkeypatch):
    """Most readings lie on top, where the function is flat: the fit alone says that it hardly varies."""
    rng = np.random.default_rng(0)
    x = np.concatenate(([0.05, 0.4, 0.95, 0.2], 0.75 + 0.004 * rng.normal(size=60)))
    y = hill(x) + 0.02 * rng.normal(size=64)
    comparisons = [eq.Comparison([x[t]], None, y[t], time=t) for t in range(64)]

    def liveliness():
        posterior = after(fresh(CONSTANT), comparisons)
        deviation = math.sqrt(posterior.hyperparameters.variance) * posterior.hyperparameters.step
        return deviation / np.ptp(posterior.exact.mean(posterior.exact.support))

    assert liveliness() == pytest.approx(refitting.LEAST_DEVIATION, rel=0.05)  # the range is that before f was let vary
    monkeypatch.setattr(refitting, "LEAST_DEVIATION", 0.0)
    assert liveliness() < 0.3


# --- what it learns -----------------------------------------------------------------------------------------------


@over_laws
def test_the_shape_is_learned(law):
    assert shape_error(after(fresh(law), told(law, 60))) < 0.35


def test_readings_teach_only_where_readings_are_learned_and_duels_only_where_duels_are():
    for law, foreign in ((ARBITRARY, readings(3)), (TRACKED, duels(3)), (CONSTANT, duels(3)), (BLOCKS, duels(3))):
        posterior = after(fresh(law), told(law, 8))
        assert all(
            posterior.condition(c).exact is posterior.exact and posterior.anticipate_all([c]) is posterior
            for c in foreign
        )


def test_a_jump_is_found_where_it_was_and_costs_little():
    for seed in range(3):
        posterior = after(fresh(), readings(45, lambda t: 6.0 * (t >= 25), seed=seed))
        (jump,) = jumps(posterior)
        assert jump[0] == 25.0
        assert 4.0 < jump[1] < 200.0  # a variance: 36 is that of a jump of six
        assert shape_error(posterior) < 0.4


def test_nothing_else_is_taken_for_a_jump():
    """Noise, a drift and a wave ten times as large as the noise, and the steps of f itself."""
    laws = [lambda t: 0.0, lambda t: -0.1 * t, lambda t: math.sin(0.2 * t)]
    found = [jumps(after(fresh(), readings(40, law, seed=seed))) for law in laws for seed in range(3)]
    assert found == [()] * 9


def test_a_jump_takes_more_than_one_reading_to_be_believed():
    comparisons = readings(30, lambda t: 6.0 * (t >= 30))
    assert jumps(after(fresh(), comparisons)) == ()
    again = [
        *comparisons,
        *(eq.Comparison(c.first, None, c.outcome + 6.0, time=31.0 + i) for i, c in enumerate(comparisons[:4])),
    ]
    assert [time for time, _ in jumps(after(fresh(), again))] == [30.0]
    assert after(fresh(CONSTANT), again).exact.offset is None
    assert jumps(after(fresh(BLOCKS), again)) == ()  # its levels are its own affair
    assert jumps(after(fresh(jump=1e9), again)) == ()


@pytest.mark.parametrize("size", [0.02, 0.5])
def test_the_noise_is_learned_from_points_dueled_with_themselves(size):
    """Eight duels say little of the noise; 200 null duels know its variance to a tenth (two standard errors: 0.2)."""
    rng = np.random.default_rng(0)
    nulls = [eq.Comparison([0.3], [0.3], float(size * z)) for z in rng.normal(size=200)]
    with_nulls = after(fresh(ARBITRARY), [*nulls, *duels(8, noise=size / math.sqrt(2))])
    assert with_nulls.exact.regularizer == pytest.approx(size**2, rel=0.3)
    assert with_nulls.exact.comparisons == 208
    fewer = after(fresh(ARBITRARY), duels(8, noise=size / math.sqrt(2)))
    np.testing.assert_array_equal(with_nulls.exact.support, fewer.exact.support)  # they are no data about f


def test_a_number_looked_up_twice_does_not_show_that_there_is_no_noise():
    """Half of the readings are the one before again, to the last digit."""
    several = readings(30, noise=0.4)
    twice = [replace(c, time=2 * c.time + k) for c in several for k in (0, 1)]
    posterior = after(fresh(TRACKED), twice)
    learned, once = posterior.hyperparameters, after(fresh(TRACKED), several).hyperparameters
    assert learned.step == pytest.approx(once.step, rel=0.05)
    assert 1 / 3 < learned.noise / once.noise < 3
    assert posterior.exact.comparisons == 60  # they are readings like others


def test_duels_of_a_point_with_itself_that_end_equal_are_no_noise_either():
    nulls = [eq.Comparison([0.3], [0.3], 0.0)] * 50
    several = duels(20, noise=0.3)
    learned = after(fresh(ARBITRARY), [*nulls, *several]).hyperparameters
    assert learned.noise == pytest.approx(after(fresh(ARBITRARY), several).hyperparameters.noise, rel=1e-6)


# --- the same in any unit -----------------------------------------------------------------------------------------


@over_laws
def test_another_unit_and_another_zero_of_the_readings_change_nothing(law):
    comparisons = told(law)
    shift = 0.0 if law == ARBITRARY else 5e4
    moved = [eq.Comparison(c.first, c.second, 1000.0 * c.outcome + shift, c.time) for c in comparisons]
    ours, theirs = after(fresh(law), comparisons), after(fresh(law), moved)
    assert theirs.hyperparameters.step == pytest.approx(1000 * ours.hyperparameters.step, rel=1e-9)
    (mean, variance), (far_mean, far_variance) = (p.exact.difference(POINTS, POINTS[3]) for p in (ours, theirs))
    np.testing.assert_allclose(far_mean, 1000 * mean, rtol=1e-3, atol=1.0)
    np.testing.assert_allclose(far_variance, 1e6 * variance, rtol=1e-2, atol=1e2)


@pytest.mark.parametrize("setting", [{}, {"offset": ARBITRARY}, {"policy": eq.UCB()}], ids=repr)
def test_a_run_is_the_same_to_the_last_bit_in_units_that_a_computer_converts_exactly(setting):
    """Knobs in other units, readings in other units: powers of two, so that nothing is rounded otherwise."""

    def asked(range_, unit):
        opt, points = eq.Optimizer(eq.Box([(0, range_)]), rng=1, **setting), []
        for t in range(16):
            trial = opt.ask()
            points.append(float(trial.x[0]) / range_)
            opt.tell(trial, (round(1024 * float(hill(points[-1]))) / 1024 + t / 8) * unit)
        return points, float(opt.recommend().x[0]) / range_, opt.recommend().gap_bound / unit

    *exact, bound = asked(1.0, 1.0)
    for range_, unit in ((1024.0, 1.0), (1.0, 2.0**-20), (2.0**-10, 2.0**20)):
        *same, other = asked(range_, unit)
        assert same == exact
        assert other == pytest.approx(bound, rel=1e-9)  # its calibration takes logarithms


# --- an immutable value -------------------------------------------------------------------------------------------


@over_laws
def test_conditioning_leaves_what_was_there_as_it_was(law):
    comparisons = told(law, 24)
    posterior, seen = fresh(law), []
    chain = [posterior := posterior.condition(c) for c in comparisons]
    seen = [belief(p) for p in chain]
    for p in chain:
        after(p, told(law, 6, seed=5))
        p.anticipate_all(comparisons[:1])
    assert [belief(p) for p in chain] == seen


@over_laws
def test_copies_and_pickles_believe_the_same_and_learn_the_same(law):
    comparisons = told(law, 40)
    posterior = after(fresh(law), comparisons[:21])
    ahead = after(posterior, comparisons[21:])
    for twin in (copy.deepcopy(posterior), pickle.loads(pickle.dumps(posterior))):
        assert belief(twin) == belief(posterior)
        assert belief(after(twin, comparisons[21:])) == belief(ahead)


# --- recommendations ----------------------------------------------------------------------------------------------

DRIFTS = {"none": lambda t: 0.0, "drift": lambda t: -0.2 * t, "jump": lambda t: 5.0 * (t > 20), "wave": math.sin}


@pytest.mark.parametrize("drift", DRIFTS)
def test_the_top_of_a_hill_is_recommended_whatever_the_drift(drift):
    """Noise of 0.05 on a range of 3: the top is flat, so the value counts, not the place."""
    for seed in range(2):
        opt, rng = eq.Optimizer(eq.Box([(0, 1)]), rng=seed), np.random.default_rng(seed)
        for t in range(50):
            trial = opt.ask()
            opt.tell(trial, float(hill(trial.x[0])) + DRIFTS[drift](t) + 0.05 * rng.normal())
        assert hill(np.linspace(0, 1, 1001)).max() - float(hill(opt.recommend().x[0])) < 0.05


def test_where_readings_are_believed_the_level_is_part_of_f():
    """Else all values would share its uncertainty, and an upper confidence bound would be greedy."""
    posterior = after(fresh(CONSTANT), readings(30, lambda t: 1000.0))
    known, belief = posterior.exact.support, posterior.exact.at(posterior.exact.support)
    assert belief.variance.max() < 0.05 * posterior.exact.kernel.diagonal(known).min()


@pytest.mark.parametrize("scale", [1e9, 1e15, 1e19])
@pytest.mark.parametrize("seed", [1, 2])
def test_two_readings_that_dwarf_the_others_do_not_blow_up_the_belief(scale, seed):
    rng, opt = np.random.default_rng(seed), eq.Optimizer(eq.Box([(0, 1)]), rng=seed)
    for i in range(26):
        opt.tell(opt.ask(), scale if i in (2, 3) else rng.standard_normal())
    assert np.abs(opt.posterior.mean(np.linspace(0, 1, 9)[:, None])).max() < 100


@pytest.mark.parametrize(("d", "deviation"), [(8, 1.0), (9, 0.5)])
def test_many_lengthscales_have_a_narrower_prior(d, deviation):
    form = fresh(d=d).form
    assert [each.deviation for each in form.table[:d]] == [deviation] * d
    assert form.table[0].mean == pytest.approx(math.log(0.2 * d**0.5))
