"""What must come out of the paper's figures, as the paper tells it (METHOD section 8)."""

from collections.abc import Callable, Iterator

from equipoise.lab.experiments import checks
from equipoise.lab.experiments.checks import Check
from equipoise.lab.experiments.figures import (
    AUTHORS_CALIBRATION,
    CALIBRATION,
    COMPENSATED,
    DRIFT,
    NONE,
    PERIODIC,
    REPEAT,
    SMOOTHER,
    Outcome,
    World,
)

UCB, BOSE, SEMITS, ONE, TWO = "UCB", "BOSE", "SemiTS", "IDS-one", "IDS-two"
ROBUST = (SEMITS, ONE, TWO)


def linear(curves: Outcome) -> list[Check]:
    """Return the statements about Figure 1."""
    return [*_no_bias(curves), *_repeat(curves), *_drift(curves), *_compensated(curves), *_bose(curves)]


def _no_bias(curves: Outcome) -> Iterator[Check]:
    ucb = curves[NONE, UCB]
    yield checks.best(_say(NONE, "UCB is best"), ucb, [curves[NONE, who] for who in (BOSE, *ROBUST)])
    for who in ROBUST:
        yield checks.close(_say(NONE, f"{who} is close to UCB"), curves[NONE, who], ucb)


def _repeat(curves: Outcome) -> Iterator[Check]:
    yield _much_worse(REPEAT, curves)
    others = [curves[REPEAT, who] for who in (UCB, BOSE, SEMITS, ONE)]
    yield checks.ahead(_say(REPEAT, "IDS-two is best"), curves[REPEAT, TWO], others)
    for who in (SEMITS, ONE):
        yield checks.sublinear(_say(REPEAT, f"{who} is sublinear"), curves[REPEAT, who])


def _drift(curves: Outcome) -> Iterator[Check]:
    yield _much_worse(DRIFT, curves)
    for who in (UCB, BOSE, SEMITS, ONE):
        yield checks.linear(_say(DRIFT, f"{who} is linear"), curves[DRIFT, who])
    yield checks.sublinear(_say(DRIFT, "IDS-two is sublinear"), curves[DRIFT, TWO])


def _compensated(curves: Outcome) -> Iterator[Check]:
    yield _much_worse(COMPENSATED, curves)
    yield checks.linear(_say(COMPENSATED, "UCB is linear"), curves[COMPENSATED, UCB])
    for who in (SEMITS, ONE):
        yield checks.sublinear(_say(COMPENSATED, f"{who} is sublinear"), curves[COMPENSATED, who])


def _bose(curves: Outcome) -> Iterator[Check]:
    for world in (NONE, REPEAT, COMPENSATED):
        bose = curves[world, BOSE]
        yield checks.sublinear(_say(world, "BOSE is sublinear"), bose)
        others = [curves[world, who] for who in ROBUST]
        yield checks.behind(_say(world, "BOSE is the slowest robust learner"), bose, others)


def camelback(curves: Outcome) -> list[Check]:
    """Return the statements about Figure 2."""
    return [*_calibration(curves), *_periodic(curves)]


def _calibration(curves: Outcome) -> Iterator[Check]:
    for world in (CALIBRATION, AUTHORS_CALIBRATION, SMOOTHER):
        ucb, one, two = (curves[world, who] for who in (UCB, ONE, TWO))
        yield checks.on_a_par(_say(world, "GP-UCB is on a par with IDS-two"), ucb, two)
        yield checks.behind(_say(world, "IDS-one comes after both"), one, [ucb, two])


def _periodic(curves: Outcome) -> Iterator[Check]:
    yield checks.linear(_say(PERIODIC, "GP-UCB is linear"), curves[PERIODIC, UCB])
    yield checks.linear(_say(PERIODIC, "IDS-one is linear"), curves[PERIODIC, ONE])
    two = curves[PERIODIC, TWO]
    yield checks.sublinear(_say(PERIODIC, "IDS-two is sublinear"), two)
    yield checks.on_a_par(_say(PERIODIC, "IDS-two pays what it pays without bias"), two, curves[NONE, TWO], bias=True)


def _much_worse(world: World, curves: Outcome) -> Check:
    return checks.much_worse(_say(world, "UCB pays much more than without bias"), curves[world, UCB], curves[NONE, UCB])


def _say(world: World, statement: str) -> str:
    return f"{world.title}: {statement}"


STATEMENTS: dict[str, Callable[[Outcome], list[Check]]] = {"linear": linear, "camelback": camelback}
"""The statements about each figure."""
