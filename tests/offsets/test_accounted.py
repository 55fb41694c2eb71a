"""The circumstances of readings, in the covariance of the offset and in the lessons."""

import numpy as np
import pytest

import equipoise as eq
from equipoise.belief import Form
from equipoise.belief.evidence import Evidence
from equipoise.belief.observations import Observations
from equipoise.offsets import LAST_READING, Accounted, Circumstances, Covariate, Moments, accounted, unaccounted
from equipoise.offsets.accounts import accounts_for

LAW = eq.Tracked()


def moments(n=12):
    rng = np.random.default_rng(0)
    humidity = rng.normal(5.0, 2.0, n)
    humidity[3] = np.nan
    blocks = np.array(["monday", "tuesday", ""])[np.arange(n) // 4 % 3]
    campaigns = np.where(np.arange(n) < 4, "2025", "")
    return Moments(np.arange(n) % 8 + 1.0, np.arange(n) // 2, blocks, campaigns, {"humidity": humidity})


def law():
    return Accounted(LAW, blocks=True, covariates=(Covariate("humidity", 5.0, 2.0),), period=3.5)


def some_values(rng):
    return np.exp(rng.normal(size=len(law().hyperparameters)))


def test_the_covariance_is_the_sum_that_the_formula_says():
    when, values = moments(), some_values(np.random.default_rng(1))
    k = len(LAW.hyperparameters)
    own, (level, effect, slope, season) = values[:k], values[k:]
    K = law().covariance(values, when, when)
    z = np.nan_to_num((when.covariate("humidity") - 5.0) / 2.0)
    for i in range(len(when)):
        for j in range(len(when)):
            expected = slope * z[i] * z[j] + (slope if i == j == 3 else 0.0)
            expected += level * (when.block[i] == when.block[j])
            if when.campaign[i] == when.campaign[j]:
                expected += LAW.covariance(own, when, when)[i, j]
                expected += season * np.cos(2 * np.pi * (when.time[i] - when.time[j]) / 3.5)
            assert K[i, j] == pytest.approx(expected, rel=1e-12)
    assert np.linalg.eigvalsh(K).min() > -1e-9
    echo = law().echo(values, when, when)
    np.testing.assert_allclose(echo, effect * (when.block[:, None] == when.block))


def test_what_is_prepared_agrees_and_the_gradient_is_that_of_the_trace():
    when, rng = moments(), np.random.default_rng(2)
    x = rng.normal(size=(len(when), 1))
    F, values = eq.RBF(1.0)(x, x), some_values(rng)
    W = rng.normal(size=F.shape)
    ready = law().prepared(when)
    np.testing.assert_allclose(ready.covariance(values), law().covariance(values, when, when), rtol=1e-12)
    np.testing.assert_allclose(ready.echo(values), law().echo(values, when, when))

    def trace(values):
        return 0.5 * np.vdot(W, ready.covariance(values) + ready.echo(values) * F)

    found = ready.gradient(values, W, F)
    for i in range(len(values)):
        up, down = values.copy(), values.copy()
        up[i], down[i] = values[i] * np.exp(1e-5), values[i] * np.exp(-1e-5)
        assert found[i] == pytest.approx((trace(up) - trace(down)) / 2e-5, rel=1e-5, abs=1e-7)
    derivatives = law().derivatives(values, when, when)
    assert [d.shape for d in derivatives] == [F.shape] * len(values)


def test_the_gradient_of_the_evidence_with_blocks_matches_differences():
    rng = np.random.default_rng(3)
    told = [Circumstances("ab"[t // 6], covariates={"humidity": float(rng.normal())}) for t in range(12)]
    data = Observations.of(
        [eq.Comparison(rng.random(2), None, rng.normal(), t + 1, 0.0, t // 2, circumstances=told[t]) for t in range(12)]
    )
    form = Form(np.ones(2), np.arange(2), LAW).accounting(data.moments, feedback=False)
    evidence = Evidence(data, form)
    theta = form.guess().theta + 0.3
    gradient = evidence(theta)[1]
    for i in range(len(theta)):
        step = np.zeros(len(theta))
        step[i] = 1e-5
        assert gradient[i] == pytest.approx((evidence(theta + step)[0] - evidence(theta - step)[0]) / 2e-5, rel=1e-4)


def test_a_law_is_itself_where_nothing_was_told():
    plain = Moments(np.arange(3.0), np.zeros(3), covariates={LAST_READING: np.arange(3.0)})
    assert accounted(LAW, plain) is LAW
    assert unaccounted(accounted(LAW, plain, feedback=True)) is LAW
    assert accounted(eq.Constant(), moments()) == eq.Constant()
    assert accounted(eq.Arbitrary(), moments()) == eq.Arbitrary()


def test_it_says_what_it_accounts_for():
    assert accounts_for(LAW, Circumstances())
    assert accounts_for(LAW, Circumstances(covariates={LAST_READING: 1.0}))
    assert not accounts_for(LAW, Circumstances("monday"))
    assert not accounts_for(LAW, Circumstances("", "2025"))
    assert not accounts_for(LAW, Circumstances(covariates={"humidity": 1.0}))
    assert accounts_for(law(), Circumstances("monday", "2025", {"humidity": 1.0}))


@pytest.mark.parametrize(
    ("told", "says"),
    [
        ({"block": ""}, "`block` must be a printable name"),
        ({"block": 3}, "`block` must be a name, got 3"),
        ({"block": "a\nb"}, "`block` must be a printable name"),
        ({"covariates": [1.0]}, "`covariates` must be numbers by name"),
        ({"covariates": {"t": "warm"}}, r"`covariates\['t'\]` must be a real number"),
        ({"covariates": {"t": np.inf}}, r"`covariates\['t'\]` must be finite"),
        ({"covariates": {LAST_READING: 1.0}}, "which is there by itself"),
        ({"covariates": {str(i): 1.0 for i in range(101)}}, "at most 100, got 101"),
    ],
)
def test_what_is_told_is_checked(told, says):
    with pytest.raises((TypeError, ValueError), match=says):
        Circumstances.of(**told)


def test_a_covariate_that_is_missing_was_not_told():
    assert Circumstances.of(covariates={"a": None, "b": float("nan"), "c": 1}).covariates == {"c": 1.0}
