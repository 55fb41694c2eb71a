"""The course of a study and its duels: the numbers on the Axes."""

import sys
import warnings

import numpy as np
import pytest

import equipoise as eq
from drawn import SPACES, line_of, made, stars

pytest.importorskip("matplotlib")
from matplotlib import pyplot as plt
from matplotlib.collections import LineCollection

from equipoise.answer.wording import amount
from equipoise.plots import series


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


def test_the_readings_and_the_offset_of_a_known_drift():
    """Noise-free readings of a known f: what the best setting would have read at each time is the drift itself."""
    opt = eq.Optimizer(SPACES["line"], rng=0)
    drift = np.cumsum(np.random.default_rng(0).normal(size=40)) / 4
    for offset in drift:
        trial = opt.ask()
        opt.tell(trial, -4 * (trial.x["q1"] - 0.7) ** 2 + offset)
    ax = eq.plots.readings(opt)
    raw = line_of(ax, "readings")
    np.testing.assert_array_equal(raw[:, 0], np.arange(1, 41))
    np.testing.assert_array_equal(raw[:, 1], [record.value for record in opt.records()])
    drawn = line_of(ax, "estimated offset, at the best setting")[:, 1]
    assert np.std(drift[10:]) > 0.3
    assert np.std((drawn - drift)[10:]) < 0.1


@pytest.mark.parametrize("minimize", [False, True])
def test_progress_is_the_gain_without_the_drift(minimize):
    """Noise-free readings of a known f under a large drift: the dots follow f, and the line never falls."""
    start = {"q1": 0.1}
    opt = eq.Optimizer(SPACES["line"], start=start, minimize=minimize, rng=0)
    drift, gained = np.cumsum(np.random.default_rng(0).normal(size=40)) / 4, []
    sign = -1.0 if minimize else 1.0
    for offset in drift:
        trial = opt.ask()
        f = -4 * (trial.x["q1"] - 0.7) ** 2
        gained.append(f + 4 * (start["q1"] - 0.7) ** 2)
        opt.tell(trial, sign * f + offset)
    ax = eq.plots.progress(opt)
    dots = line_of(ax, "reading less offset")
    np.testing.assert_array_equal(dots[:, 0], np.arange(1, 41))
    assert np.corrcoef(dots[:, 1], gained)[0, 1] > 0.9
    assert np.median(np.abs(dots[:, 1] - gained)) < 0.2 < np.ptp(drift) / 5
    line = line_of(ax, "best setting so far")[:, 1]
    assert (np.diff(line) >= 0).all()
    assert line[-1] == pytest.approx(4 * 0.36, abs=0.25)
    assert stars(ax)[0] == (41.0, opt.recommend().against_start.value)
    assert ax.get_ylabel() == "better than the start by"


@pytest.mark.parametrize(
    "space", [eq.Space(q=eq.Float(0, 1), temp=eq.Context(0, 40)), SPACES["grid"]], ids=["context", "grid"]
)
def test_progress_of_any_study_begins_empty(space):
    opt = eq.Optimizer(space, kernel=eq.RBF(0.5), offset=eq.Arbitrary(), rng=0)
    assert len(eq.plots.progress(opt).lines) == 0
    for day in range(6):
        opt.tell(opt.ask(context={"temp": 5.0 * day} if isinstance(space, eq.Space) else None), 0.1 * day)
    dots = line_of(eq.plots.progress(opt), "estimate at each setting read")  # no law: nothing tells noise from offset
    assert dots.shape == (6, 2)
    assert dots[0, 1] == pytest.approx(0.0, abs=1e-12)  # the first one read is the start


@pytest.mark.parametrize("minimize", [False, True])
@pytest.mark.parametrize("offset", [eq.Tracked(), eq.Arbitrary()], ids=repr)
def test_the_offset_moves_with_the_readings(offset, minimize):
    """Every reading 128 higher, every estimated offset 128 higher."""
    low, high = (eq.Optimizer(SPACES["row"], rng=0, offset=offset, minimize=minimize) for _ in range(2))
    for t in range(16):
        trial, twin = low.ask(), high.ask()
        assert trial.x == twin.x
        value = (4.0 if minimize else -4.0) * float(trial.x[0] - 0.5) ** 2 + t / 8
        low.tell(trial, value)
        high.tell(twin, value + 128.0)
    np.testing.assert_allclose(series.offsets(high) - series.offsets(low), 128.0, atol=1e-6)


def test_workers_have_colors_of_their_own():
    opt = eq.Optimizer(SPACES["line"], kernel=eq.RBF(0.5), rng=0)
    for t in range(8):
        opt.tell(opt.ask(worker=f"laser-{t % 2}"), float(t))
    ax = eq.plots.readings(opt)
    one, two = (line for line in ax.lines if line.get_label().startswith("readings of"))
    assert (one.get_label(), two.get_label()) == ("readings of laser-0", "readings of laser-1")
    assert one.get_color() != two.get_color()
    assert one.get_xdata().tolist() == [1, 3, 5, 7]


PARTS = {
    "IDS": {"kernel": eq.RBF(0.5), "policy": eq.IDS()},
    "forecast": {"kernel": eq.RBF(0.5), "policy": eq.IDS(), "reduction": eq.OnePoint(eq.BestForecaster())},
    "late": {"kernel": eq.RBF(0.5), "max_gap": 1.5},
    "learned": {"minimize": True},
}


@pytest.mark.parametrize("parts", PARTS.values(), ids=PARTS)
def test_the_certificate_is_what_recommend_said_at_the_time(parts):
    opt, said = eq.Optimizer(SPACES["grid"], rng=0, **parts), []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", eq.DuelGivenUp)
        for t in range(34):
            trial = opt.ask()
            opt.tell(trial, float(trial.x[0]) + 0.1 * t, time=t if t < 6 else 2 * t)
            said.append(opt.recommend().gap_bound)
    ax = eq.plots.certificate(opt, points=34)
    line = ax.lines[0].get_xydata()
    known = np.flatnonzero(np.isfinite(said))
    np.testing.assert_array_equal(line, np.column_stack((known + 1, np.array(said)[known])))
    assert ax.get_title() == f"By estimate, at most {amount(said[-1])} remains to be gained"
    assert len(eq.plots.certificate(opt, points=3).lines[0].get_xydata()) <= 3


# The duels.


@pytest.mark.parametrize("minimize", [False, True])
def test_duels_join_their_settings_and_mark_the_winner(minimize):
    opt = made(SPACES["box"], 13, minimize=minimize)  # one fails, one is half done
    ax = eq.plots.duels(opt)
    lines = next(c for c in ax.collections if isinstance(c, LineCollection))
    by_duel = {}
    for record in opt.records():
        if record.value is not None and not record.void:
            by_duel.setdefault(record.duel, []).append(record)
    whole = [by_duel[n] for n in sorted(by_duel) if len(by_duel[n]) == 2]
    np.testing.assert_allclose(lines.get_segments(), [[record.x for record in duel] for duel in whole])
    pick = min if minimize else max
    winners = [pick(duel, key=lambda record: record.value).x for duel in whole]
    dots = next(c for c in ax.collections if not isinstance(c, LineCollection) and len(c.get_offsets()) == len(whole))
    np.testing.assert_allclose(dots.get_offsets(), winners)
    assert stars(ax) == [tuple(opt.recommend().x)]
    assert ax.get_xlim()[0] < -2 < 2 < ax.get_xlim()[1]


def test_single_readings_are_dots():
    opt = made(SPACES["line"], 6, policy=eq.IDS(), reduction=eq.OnePoint())
    ax = eq.plots.duels(opt)
    assert ax.get_ylabel() == "duel"
    assert all(np.ptp(np.array(segment)[:, 0]) == 0 for segment in ax.collections[0].get_segments())


def test_without_matplotlib_the_message_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"pictures need matplotlib: install equipoise\[plot\]"):
        eq.plots.readings(made(SPACES["line"], 2))
