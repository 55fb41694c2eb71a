"""The filter of a picture, tuned by a judge who favors whatever is shown first.

A noisy picture is blurred and sharpened again; how much of each is best? There is no number, only a judge who looks at
two results and names the better one, or calls them equal. Like many people and most models, this judge favors the first
place. Here are two ways to use the same number of judgements:

- plain win rate: a list of settings, every pair judged once in the order of the list; the setting with most wins is
  chosen;
- Equipoise: informative pairs in random order; the study learns the preference for the first place and corrects it.

    python examples/judge.py                        # a few minutes for 10 judges
    python examples/judge.py --seeds 2 --show       # a quick look, and the picture in a window
"""

import argparse
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from scipy.ndimage import gaussian_filter

import equipoise as eq

ADVANTAGE = 1.5
"""By how much the first place is favored, in noises of the judge: it wins 93 % of toss-ups."""

UNIT = 0.004
"""The difference of the mean absolute error that equals one noise of the judge."""

LIST = [{"blur": blur, "sharpen": sharpen} for blur in (4.0, 3.2, 2.4, 1.6) for sharpen in (2.4, 1.2, 0.0)]
"""The settings for the win rate, 12 with 66 pairs, in the order of the list."""

Picture = Any
"""Brightness, shape (96, 96)."""


def scene() -> Picture:
    """A picture of edges and slopes, values from 0 to 1."""
    y, x = np.mgrid[0:96, 0:96] / 96.0
    picture = 0.25 + 0.3 * x + 0.15 * np.sin(6 * y)
    picture[(x - 0.3) ** 2 + (y - 0.35) ** 2 < 0.04] = 0.9
    picture[(abs(x - 0.7) < 0.12) & (abs(y - 0.6) < 0.2)] = 0.1
    picture[(abs(x - 0.7) < 0.02) & (y < 0.35)] = 0.95
    return np.clip(picture, 0.0, 1.0)


SCENE = scene()
NOISY = SCENE + 0.1 * np.random.default_rng(0).standard_normal(SCENE.shape)


def filtered(x: dict[str, float]) -> Picture:
    """The noisy picture, blurred and sharpened."""
    blurred = gaussian_filter(NOISY, x["blur"])
    return np.clip(blurred + x["sharpen"] * (blurred - gaussian_filter(blurred, 2.0)), 0.0, 1.0)


def merit(x: dict[str, float]) -> float:
    """The true merit of a setting, in noises of the judge; the methods do not know it."""
    return -float(np.abs(filtered(x) - SCENE).mean()) / UNIT


class Judge:
    """A judge that looks at two results and names the better one."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)

    def __call__(self, first: dict[str, float], second: dict[str, float]) -> str:
        """Return the answer."""
        felt = merit(first) - merit(second) + ADVANTAGE + self.rng.normal()
        return "equal" if abs(felt) < 0.4 else "first" if felt > 0 else "second"


def win_rates(seed: int) -> list[float]:
    """The share of wins of each setting of the list, ties half; every pair once, in the order of the list."""
    judge, wins = Judge(seed), np.zeros(len(LIST))
    for i, j in combinations(range(len(LIST)), 2):
        share = {"first": 1.0, "equal": 0.5, "second": 0.0}[judge(LIST[i], LIST[j])]
        wins[[i, j]] += (share, 1.0 - share)
    return list(wins / (len(LIST) - 1))


def tuned(seed: int) -> eq.Optimizer:
    """A study of the same number of judgements."""
    opt = eq.Optimizer(eq.Space(blur=eq.Float(0.3, 4), sharpen=eq.Float(0, 3)), rng=seed)
    opt.run(Judge(seed), judgements=len(LIST) * (len(LIST) - 1) // 2, steps=3, judge="judge")
    return opt


def draw(rates: list[float], by_rate: dict[str, float], by_study: dict[str, float], path: Path | None) -> None:
    """Draw the three pictures, and the win rates over the true merits."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 4, figsize=(12.0, 3.3), layout="constrained")
    shown: list[tuple[str, Picture]] = [
        ("what is to be filtered", NOISY),
        (f"by win rate: {_said(by_rate)}", filtered(by_rate)),
        (f"Equipoise: {_said(by_study)}", filtered(by_study)),
    ]
    for ax, (title, picture) in zip(axes, shown, strict=False):
        ax.imshow(picture, cmap="gray", vmin=0, vmax=1)
        ax.set_title(title, fontsize="small")
        ax.axis("off")
    truth = [merit(x) for x in LIST]
    axes[3].scatter(truth, rates, c=np.arange(len(LIST)), cmap="viridis")
    for place in (0, len(LIST) - 1):
        text, side = ("first of the list", "left") if not place else ("last", "right")
        axes[3].annotate(text, (truth[place], rates[place] + 0.015), fontsize="small", ha=side)
    axes[3].set(xlabel="true merit, in noises of the judge", ylabel="win rate", title="a win rate follows the list")
    if path is None:
        plt.show()
    else:
        figure.savefig(path, dpi=110)


def _said(x: dict[str, float]) -> str:
    return f"blur {x['blur']:.1f}, sharpen {x['sharpen']:.1f}"


def main(arguments: list[str] | None = None) -> dict[str, Any]:
    """Compare both ways over some judges; return the loss of each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--out", type=Path, default=Path("judge.png"))
    parser.add_argument("--show", action="store_true", help="Open a window instead of writing the picture.")
    options = parser.parse_args(arguments)
    best = max(merit({"blur": b, "sharpen": s}) for b in np.linspace(0.3, 4, 75) for s in np.linspace(0, 3, 31))
    lost: dict[str, list[float]] = {"win rate": [], "Equipoise": []}
    for seed in range(options.seeds):
        rates, opt = win_rates(seed), tuned(seed)
        chosen = {"win rate": LIST[int(np.argmax(rates))], "Equipoise": opt.recommend().x}
        for way, x in chosen.items():
            lost[way].append(best - merit(x))
        print(f"judge {seed}: " + "; ".join(f"{way} loses {lost[way][-1]:.2f}" for way in chosen))
        print(f"         {opt.study.judges()[0]}")
    for way, losses in lost.items():
        print(f"{way}: {np.mean(losses):.2f} noises of the judge lost on average")
    print(f"the best of the list would lose {best - max(map(merit, LIST)):.2f}")
    draw(rates, chosen["win rate"], chosen["Equipoise"], None if options.show else options.out)
    return lost


if __name__ == "__main__":
    main()
