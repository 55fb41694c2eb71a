"""Learners that do not communicate: each sets one knob, and all see the same reading.

d learners tune a sum of one-dimensional functions, f(x) = f_1(x_1) + ... + f_d(x_d). Each runs in a separate process,
sets only its own coordinate and sees only the common reading. The moves of the others are its offset.

- GP-UCB learners trust the reading. They see the same numbers, so they move in step, and each mistakes the moves of the
  others for its own effect.
- One-point duels let a coin decide each setting. The coins of the others are independent of it, so their moves are
  unbiased noise: this is the paper's tool for the problem. With a forecast of the reading the noise is far smaller.
- Two-point duels require that the others do not respond to the first reading of a pair before the second one. This
  holds if all pairs begin together, as they do here.

Each learner knows the kernel of its own part, and that the others move the reading by about 1. For comparison, one
learner turns all knobs and knows that f is a sum; it is done after 100 readings.

    python examples/independent.py                                   # about half a minute on two cores
    python examples/independent.py --learners 2 --readings 100 --seeds 2     # a quick look
"""

import argparse
import signal
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

import equipoise as eq
from equipoise.lab.environments import Environment, additive
from equipoise.lab.experiments.charts import STYLE, band, pyplot, save
from equipoise.lab.experiments.reports import markdown
from equipoise.lab.experiments.statistics import level
from equipoise.plots.style import METHODS as METHOD_COLORS

NOISE, LENGTHSCALE = 0.1, 0.2
KNOB = eq.Finite(np.linspace(0, 1, 101)[:, None])
JOINT = "one learner, all knobs"
ENOUGH = 100
"""Readings of the learner that turns all knobs."""


def told(policy: eq.policies.Policy, reduction: eq.reductions.Reduction, outcome_noise: float) -> dict[str, Any]:
    """Return the arguments of a learner of one knob besides its seed."""
    confidence, kernel = eq.CredibleConfidence(), eq.RBF(LENGTHSCALE)
    parts = {"kernel": kernel, "regularizer": outcome_noise**2, "confidence": confidence}
    return {"policy": policy, "reduction": reduction} | parts


ONE, TWO = eq.OnePoint.outcome_noise(NOISE, 1.0), eq.TwoPoint.outcome_noise(NOISE, 1.0)
METHODS: Mapping[str, Mapping[str, Any]] = {
    "GP-UCB": told(eq.UCB(), eq.Direct(), np.hypot(NOISE, 1.0)),
    "one-point duels": told(eq.IDS(floor=0.05), eq.OnePoint(), ONE),
    "one-point, forecast": told(eq.IDS(floor=0.05), eq.OnePoint(eq.BestForecaster()), ONE),
    "two-point duels": told(eq.IDS(floor=0.05), eq.TwoPoint(), TWO),
}
COLORS = tuple(METHOD_COLORS[name] for name in ("UCB", "one-point", "forecast", "two-point"))
KNOB_COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
HEADLINE = "Learners that do not talk, each with one knob: the others are the offset"


@dataclass(frozen=True, eq=False)
class Run:
    """One run: settings, shape (readings, d), their regrets, that of the recommendations, and the best setting."""

    settings: NDArray[np.float64]
    regrets: NDArray[np.float64]
    recommended: float
    best: NDArray[np.float64]


def learn(pipe: Connection) -> None:
    """Run one learner in its own process: send a setting, receive the reading, and finally send the best setting."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is handled by the process that started it
    while True:
        method, seed, readings = pipe.recv()
        optimizer = eq.Optimizer(KNOB, rng=np.random.default_rng(seed), **METHODS[method])
        for _ in range(readings):
            trial = optimizer.ask()
            pipe.send(float(trial.x[0]))
            optimizer.tell(trial, pipe.recv())
        pipe.send(float(optimizer.recommend().x[0]))


@contextmanager
def processes(count: int) -> Iterator[list[Connection]]:
    """Start learners, each in its own process with its own pipe; they have no connection with each other."""
    context = get_context("spawn")
    lines = [context.Pipe() for _ in range(count)]
    started = [context.Process(target=learn, args=(theirs,), daemon=True) for _, theirs in lines]
    for process in started:
        process.start()
    try:
        yield [ours for ours, _ in lines]
    finally:
        for process in started:
            process.kill()  # SIGTERM may be ignored, as in some jobs in the background
            process.join()


def together(pipes: Sequence[Connection], method: str, seed: int, readings: int) -> Run:
    """Let the learners tune a function drawn by the seed, one knob each."""
    environment = _environment(len(pipes), seed)
    for i, pipe in enumerate(pipes):
        pipe.send((method, [seed, i], readings))
    settings = []
    for _ in range(readings):
        settings.append([pipe.recv() for pipe in pipes])
        y = environment.measure(settings[-1])
        for pipe in pipes:
            pipe.send(y)
    return _run(environment, settings, [pipe.recv() for pipe in pipes])


def alone(learners: int, seed: int, readings: int) -> Run:
    """Let one learner turn all knobs; it knows that the function is a sum over them."""
    near, far = np.eye(learners, dtype=bool), 1e6
    kernels = [eq.RBF(np.where(own, LENGTHSCALE, far)) for own in near]
    kernel: eq.kernels.Kernel = kernels[0]
    for other in kernels[1:]:
        kernel = kernel + other
    parts: dict[str, Any] = {"kernel": kernel, "policy": eq.UCB(), "regularizer": NOISE**2}
    environment = _environment(learners, seed)
    box = eq.Box([(0, 1)] * learners)
    optimizer = eq.Optimizer(box, confidence=eq.CredibleConfidence(), rng=seed, **parts)
    settings = []
    for _ in range(readings):
        trial = optimizer.ask()
        settings.append(trial.x)
        optimizer.tell(trial, environment.measure(trial.x))
    return _run(environment, settings, optimizer.recommend().x)


def _environment(learners: int, seed: int) -> Environment:
    return Environment(additive(learners, LENGTHSCALE, rng=seed), noise=NOISE, rng=seed)


def _run(environment: Environment, settings: Sequence[Any], recommended: Any) -> Run:
    function, x = environment.function, np.array(settings)
    return Run(x, function.regret(x), environment.regret(recommended), function.maximizer)


Runs = Mapping[str, Sequence[Run]]
"""The runs of each method."""


def contest(learners: int, seeds: int, readings: int) -> Runs:
    """Run every method once for each seed."""
    with processes(learners) as pipes, tqdm(total=seeds * (len(METHODS) + 1), unit="run") as bar:

        def counted(play: Callable[..., Run], *arguments: Any) -> Run:
            result = play(*arguments)
            bar.update()
            return result

        runs = {m: [counted(together, pipes, m, seed, readings) for seed in range(seeds)] for m in METHODS}
        joint = [counted(alone, learners, seed, min(readings, ENOUGH)) for seed in range(seeds)]
    return runs | {JOINT: joint}


def table(runs: Runs) -> str:
    """Return regret, late regret and the regret of the recommendations, mean and two standard errors, in Markdown."""
    columns = ["", "readings", "regret", "regret of a late reading", "recommended", "less regret than GP-UCB"]
    believers = np.array([run.regrets.sum() for run in runs["GP-UCB"]])
    return markdown(columns, [_row(name, each, believers) for name, each in runs.items()])


def _row(name: str, runs: Sequence[Run], believers: NDArray[np.float64]) -> list[str]:
    R = np.array([run.regrets for run in runs])
    late, recommended = R[:, -max(R.shape[1] // 4, 1) :].mean(axis=1), np.array([run.recommended for run in runs])
    fewer = "-" if name in ("GP-UCB", JOINT) else f"{(R.sum(axis=1) < believers).sum()} of {len(runs)}"
    return [name, str(R.shape[1]), *(str(level(values)) for values in (R.sum(axis=1), late, recommended)), fewer]


def draw(runs: Runs, path: Path) -> Path:
    """Draw the regret, and every learner's settings in the first run of two methods."""
    plt = pyplot()
    with plt.rc_context(dict(STYLE)):
        canvas, (cost, *traces) = plt.subplots(1, 3, figsize=(14, 4.2), layout="constrained")
        canvas.suptitle(HEADLINE, fontsize=12.5, fontweight="bold")
        _cost(cost, runs)
        for ax, method in zip(traces, ("GP-UCB", "two-point duels"), strict=True):
            _trace(ax, method, runs[method][0])
        written = save(canvas, path.with_suffix(""), (path.suffix.removeprefix(".") or "png",))
        plt.close(canvas)
    return written[0]


def _cost(ax: Any, runs: Runs) -> None:
    for method, color in zip(METHODS, COLORS, strict=True):
        R = np.array([run.regrets for run in runs[method]]).cumsum(axis=1)
        band(ax, np.arange(1, R.shape[1] + 1), R, color, method)
    joint = np.array([run.regrets.sum() for run in runs[JOINT]])
    ax.axhline(joint.mean(), color="#555555", linewidth=1, linestyle=(0, (4, 2)), label=JOINT)
    ax.set(title="What the search cost", xlabel=f"readings    (mean of {len(R)} runs ± 2 standard errors)")
    ax.set(ylabel="cumulative regret", xlim=(0, R.shape[1]), ylim=(0, None))
    ax.legend(loc="upper left")


def _trace(ax: Any, method: str, run: Run) -> None:
    n = len(run.settings)
    for i, (best, color) in enumerate(zip(run.best, KNOB_COLORS, strict=False)):
        ax.scatter(np.arange(1, n + 1), run.settings[:, i], s=5, color=color, alpha=0.6, linewidths=0)
        ax.plot([1.02 * n], [best], marker="<", color=color, markersize=8, clip_on=False)
    ax.set(title=f"{method}: what each learner set", xlabel="readings    (first run; triangles: where the best is)")
    ax.set(ylabel="setting", xlim=(0, n), ylim=(-0.03, 1.03))


def main(arguments: Sequence[str] | None = None) -> None:
    text = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=text)
    parser.add_argument("--learners", type=int, default=4, help="learners, a process each (default: %(default)s)")
    parser.add_argument("--readings", type=int, default=600, help="readings in each run (default: %(default)s)")
    parser.add_argument("--seeds", type=int, default=8, help="runs of each method (default: %(default)s)")
    parser.add_argument("--out", type=Path, default=Path("out/independent.png"), help="picture (default: %(default)s)")
    options = parser.parse_args(arguments)
    runs = contest(options.learners, options.seeds, options.readings)
    print(f"\n{table(runs)}\nPicture: {draw(runs, options.out)}")


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit("\nInterrupted; nothing was written.")
