"""Every picture draws, on every space; and the estimate shows what it says."""

import numpy as np
import pytest

import equipoise as eq
from drawn import MIXED, SPACES, line_of, made, stars

pytest.importorskip("matplotlib")
from matplotlib import pyplot as plt
from matplotlib.contour import ContourSet

from equipoise.answer.wording import amount
from equipoise.plots import style
from equipoise.plots.importance import shares
from equipoise.plots.knobs import knobs
from equipoise.plots.series import against, foremost


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


@pytest.fixture(scope="module", params=SPACES.values(), ids=SPACES)
def opt(request):
    return made(request.param)


# Everything draws, on every space, before and after the first reading.


DRAW = (eq.plots.estimate, eq.plots.duels, eq.plots.readings, eq.plots.certificate)


def test_every_picture_of_every_space_on_the_axes_that_are_given(opt, tmp_path):
    _, axs = plt.subplots(1, 4)
    for draw, ax in zip(DRAW, axs, strict=True):
        assert draw(opt, ax=ax) is ax
    grid = eq.plots.overview(opt)
    assert grid.shape == (2, 2)
    assert [ax.get_title() for ax in grid.flat] == [ax.get_title() for ax in (axs[0], axs[2], axs[1], axs[3])]
    style.figure(grid).savefig(tmp_path / "study.png")


UNKNOWN = {"kernel": None, "regularizer": None}
EMPTY = [*((name, {}) for name in SPACES), *((name, UNKNOWN) for name in ("line", "mixed", "grid"))]


@pytest.mark.parametrize(("name", "options"), EMPTY, ids=str)
def test_a_study_without_readings_can_be_drawn(name, options, tmp_path):
    opt = made(SPACES[name], 0, **options)
    style.figure(eq.plots.overview(opt)).savefig(tmp_path / "study.png")
    assert eq.plots.certificate(opt).get_title() == "No bound yet" or "kernel" not in options


def test_without_axes_a_picture_has_its_own():
    opt = made(SPACES["line"])
    axs = [draw(opt) for draw in DRAW]
    assert all(isinstance(ax, plt.Axes) for ax in axs)
    assert len({ax.figure for ax in axs}) == 4


# The estimate.


@pytest.mark.parametrize("minimize", [False, True])
def test_the_line_is_the_estimate_with_its_band_and_bound(minimize):
    opt = made(SPACES["line"], minimize=minimize)
    best, ax = opt.recommend(), eq.plots.estimate(opt)
    drawn = line_of(ax, "estimate")
    points = np.array([opt.space.encode({"q1": q}) for q in drawn[:, 0]])
    mean, width = against(opt, best, points)
    np.testing.assert_allclose(drawn[:, 1], mean)
    band = ax.collections[0].get_paths()[0].get_extents()
    assert band.ymin == pytest.approx((mean - width).min())
    assert band.ymax == pytest.approx((mean + width).max())
    assert stars(ax) == [(best.x["q1"], 0.0)]
    bound = line_of(ax, "by estimate, nothing lies beyond")[0, 1]
    assert bound == (-best.gap_bound if minimize else best.gap_bound)
    bound = f"By estimate, nothing is better by more than {amount(best.gap_bound)}"
    assert ax.get_title() == f"Best: q1 = {best.x['q1']:.4f}\n{bound}"


@pytest.mark.parametrize("minimize", [False, True])
def test_against_is_the_difference_in_the_users_direction(minimize):
    opt = made(SPACES["box"], minimize=minimize)
    points = np.random.default_rng(1).uniform(0, 1, (5, 2))
    mean, variance = opt.posterior.difference(points, opt.space.encode(opt.recommend().x))
    drawn, width = against(opt, opt.recommend(), points)
    np.testing.assert_allclose(drawn, -mean if minimize else mean)
    np.testing.assert_allclose(width, np.sqrt(opt.posterior.beta * variance / opt.posterior.regularizer))


def test_the_map_shows_leader_readings_and_where_better_may_hide():
    opt = made(SPACES["box"], 40, regularizer=0.01)
    ax, best = eq.plots.estimate(opt), opt.recommend()
    assert stars(ax) == [tuple(best.x)]
    told = np.array([record.x for record in opt.records() if record.value is not None])
    dots = next(line for line in ax.lines if line.get_marker() == "o").get_xydata()
    np.testing.assert_allclose(dots, told)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("x[0]", "x[1]")
    assert ax.get_legend().get_texts()[0].get_text() == "inside: may still be better"
    edge = next(c for c in ax.collections if isinstance(c, ContourSet) and c.levels.tolist() == [0.0])
    vertices = np.concatenate(edge.allsegs[0])
    mean, width = against(opt, best, np.array([opt.space.encode(x) for x in vertices]))
    np.testing.assert_allclose(mean + width, 0.0, atol=0.05)


@pytest.mark.parametrize("space", [SPACES["box"], eq.Space(a=eq.Int(0, 8), b=eq.Int(0, 4))], ids=["smooth", "steps"])
def test_the_map_is_hatched_where_nothing_was_measured(space):
    """Readings of one half only: that half is known, the other is not."""
    opt = eq.Optimizer(space, kernel=eq.RBF(0.5), regularizer=0.01, rng=0, policy=eq.policies.Random())
    for _ in range(60):
        trial = opt.ask()
        u = np.array(opt.space.encode(trial.x))
        u[0] *= 0.5
        x = opt.space.decode(opt.space.snap(u[None])[0])
        opt.tell(trial, -50 * float(((opt.space.encode(x) - 0.3) ** 2).sum()), x=x)
    ax = eq.plots.estimate(opt)
    hatched = [c for c in ax.collections if any(getattr(c, "hatches", [c.get_hatch()]))]
    across = np.concatenate([path.vertices[:, 0] for path in hatched[0].get_paths()])
    low, high = ax.get_xlim()
    assert (across > low + 0.4 * (high - low)).all()
    text = ax.get_legend().get_texts()[-1].get_text()
    _, width = against(opt, opt.recommend(), np.array([[1.0, 0.5], [0.25, 0.5]]))
    limit = float(text.removeprefix("hatched: uncertain by more than ±"))
    assert width[1] < limit < width[0]


def test_the_title_names_every_knob_and_whole_numbers_have_whole_ticks():
    opt = made(MIXED, 20)
    best = opt.recommend().x
    ax = eq.plots.estimate(opt, "n", "rate")
    title = ax.get_title().replace("\n", " ")
    assert all(f"{name} = " in title for name in ("rate", "n", "mode"))
    assert f"mode = {best['mode']}" in title
    assert all(tick == round(tick) for tick in ax.get_xticks())
    drawn = eq.plots.duels(opt, "n")
    assert all(tick == round(tick) for tick in (*drawn.get_xticks(), *drawn.get_yticks()))


def test_every_method_has_one_color():
    from equipoise.lab.experiments.charts import COLORS
    from equipoise.lab.experiments.demo import COLORS as SHOWN

    assert len(set(style.METHODS.values())) == len(style.METHODS)
    assert set(COLORS.values()) <= set(style.METHODS.values())
    assert set(SHOWN.values()) <= set(style.METHODS)


def test_of_many_parameters_those_that_matter_most_are_drawn():
    opt = eq.Optimizer(SPACES["six"], kernel=eq.RBF(1.0), regularizer=0.01, rng=0)
    for x in np.random.default_rng(0).uniform(0, 1, (60, 6)):  # the knobs went where they liked
        opt.tell(opt.ask(), -4 * float((x[1] - 0.5) ** 2 + (x[4] - 0.5) ** 2), x=x)
    assert foremost(opt, opt.recommend()) == ("x[1]", "x[4]")
    ax = eq.plots.estimate(opt)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("x[1]", "x[4]")
    assert "(slice through it)" in ax.get_title()
    drawn = eq.plots.duels(opt)
    assert (drawn.get_xlabel(), drawn.get_ylabel()) == ("x[1]", "x[4]")
    assert eq.plots.estimate(opt, "x[0]").get_xlabel() == "x[0]"


def test_a_mixed_space_has_named_ticks_and_a_logarithmic_axis():
    opt = made(MIXED, 20)
    ax = eq.plots.estimate(opt, "rate", "mode")
    assert ax.get_xscale() == "log"
    assert [tick.get_text() for tick in ax.get_yticklabels()] == ["slow", "fast"]
    assert eq.plots.estimate(opt, "n").containers[0][0].get_xdata().tolist() == [1, 2, 3, 4, 5, 6]
    drawn = eq.plots.duels(opt, "mode", "rate")
    assert drawn.get_xlim() == (-0.5, 1.5)
    assert drawn.get_yscale() == "log"


def chosen_in(order, space):
    return sorted(knobs(space), key=lambda knob: order.index(knob.name))


def test_slices_cut_through_the_leader_along_every_parameter():
    opt = made(MIXED, 20)
    axs, best = eq.plots.slices(opt), opt.recommend()
    order = [each.knob.name for each in shares(opt, best)]
    assert [ax.get_xlabel() for ax in axs] == order
    expected = [(knob.position(best.x[knob.name]), 0.0) for knob in chosen_in(order, opt.space)]
    assert [stars(ax)[0] for ax in axs] == expected
    _, own = plt.subplots(1, 3)
    assert eq.plots.slices(opt, list(own)) == list(own)
    with pytest.raises(ValueError, match="`opt` must have parameters to slice along"):
        eq.plots.slices(made(SPACES["row"]))


def test_constraints_leave_holes():
    space = eq.Box([(0, 1), (0, 1)], 64, constraint=lambda x: x[0] + x[1] < 1)
    ax = eq.plots.estimate(made(space))
    filled = next(c for c in ax.collections if hasattr(c, "zmax") and c.filled)
    corners = np.concatenate([path.vertices for path in filled.get_paths()])
    assert corners.sum(axis=1).max() < 1.05


def test_a_plain_set_shows_its_points():
    opt = made(SPACES["grid"])
    ax = eq.plots.estimate(opt)
    mesh = ax.collections[0].get_array()
    expected = against(opt, opt.recommend(), opt.space.points)[0].reshape(3, 4)
    np.testing.assert_allclose(mesh, expected)
    many = made(SPACES["many"])
    ticks = [tick.get_text() for tick in eq.plots.estimate(many).get_xticklabels()]
    assert len(ticks) == 25
    np.testing.assert_array_equal(many.space.points[int(ticks[0])], many.recommend().x)


@pytest.mark.parametrize("draw", [eq.plots.estimate, eq.plots.duels])
def test_wrong_names_are_refused(draw):
    opt = made(SPACES["box"])
    with pytest.raises(ValueError, match=r"`along` must name parameters of the space, x\[0\], x\[1\], got \['q1'\]"):
        draw(opt, "q1")
    with pytest.raises(ValueError, match="`along` must name one or two parameters"):
        draw(opt, "x[0]", "x[0]")
    with pytest.raises(ValueError, match="`along` must name parameters of the space, none"):
        draw(made(SPACES["row"]), "x[0]")


def test_pictures_at_a_context_show_the_best_setting_there_and_may_be_along_it():
    opt = eq.Optimizer(eq.Space(q=eq.Float(0, 1), gap=eq.Float(0, 1, step=0.1), temp=eq.Context(0, 40)), rng=0)
    for t in range(20):
        trial = opt.ask(context={"temp": 10 + 20 * (t // 2 % 2)})
        opt.tell(trial, -4 * (trial.x["q"] - trial.x["temp"] / 40) ** 2 - (trial.x["gap"] - 0.5) ** 2)
    there = {"temp": 30}
    assert foremost(opt, opt.recommend(context=there)) == ("q", "gap")
    ax = eq.plots.estimate(opt, "q", context=there)
    assert ax.get_title().startswith("Best at temp = 30: q = ")
    assert stars(ax)[0][0] == opt.recommend(context=there).x["q"]
    ax = eq.plots.estimate(opt, "temp", "q")
    assert ax.get_xlabel() == "temp"
    assert "best there" in ax.figure.axes[-1].get_ylabel()  # of the color bar
    assert len(eq.plots.slices(opt, context=there)) == 2
    assert eq.plots.duels(opt, "q", context=there).lines
    assert eq.plots.certificate(opt, points=2, context=there).get_title().startswith("By a guess, at most ")


def test_long_titles_are_wrapped_and_axes_say_the_scale():
    """Claims about counts say a factor too: they did not fit above a picture."""
    opt, rng = eq.Optimizer(SPACES["line"], likelihood=eq.likelihoods.Poisson(), rng=0), np.random.default_rng(0)
    for _ in range(12):
        trial = opt.ask()
        opt.tell(trial, int(rng.poisson(np.exp(3 - trial.x["q1"] ** 2))))
    for ax in (eq.plots.estimate(opt), eq.plots.certificate(opt)):
        assert "a factor of" in ax.get_title().replace("\n", " ")
        assert max(map(len, ax.get_title().splitlines())) <= style.TITLE_WIDTH
        assert ax.get_ylabel().endswith(" / log rate")
