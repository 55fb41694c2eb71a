"""All pictures of a study in one figure."""

from collections.abc import Mapping
from typing import Any

from equipoise.optimizer import Optimizer
from equipoise.plots.course import answers, certificate, readings
from equipoise.plots.duels import duels
from equipoise.plots.estimate import estimate
from equipoise.plots.series import foremost
from equipoise.plots.style import pyplot


def overview(opt: Optimizer, *, context: Mapping[str, Any] | None = None) -> Any:
    """Draw the estimate, the readings (or the judges' answers), the duels and the certificate side by side.

    Args:
        opt: The study.
        context: The context to show, in a space with contexts; the last one requested by default.

    Returns:
        The four Axes, shape (2, 2).
    """
    canvas, grid = pyplot().subplots(2, 2, figsize=(11.0, 7.4), layout="constrained")
    along = foremost(opt, opt.recommend(context=context))
    canvas.get_layout_engine().set(w_pad=0.1, h_pad=0.1)
    estimate(opt, *along, ax=grid[0, 0], context=context)
    if opt.judgements > opt.readings:
        answers(opt, ax=grid[0, 1])
    else:
        readings(opt, ax=grid[0, 1], context=context)
    duels(opt, *along, ax=grid[1, 0], context=context)
    certificate(opt, ax=grid[1, 1], context=context)
    return grid
