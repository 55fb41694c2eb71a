"""`equipoise audit`, `verify` and `cancel`: duels that prove something, before the study goes on."""

from pathlib import Path
from typing import Any

import click

from equipoise.answer import planned
from equipoise.cli.common import AS_JSON, CONTEXT, STUDY, command, context_of, dialed, opened, say, setting
from equipoise.optimizer import Optimizer
from equipoise.study import Plan

DUELS = click.option(
    "--duels",
    type=click.IntRange(min=2),
    default=24,
    show_default=True,
    help="How many; each takes two readings, or a judgement.",
)


@command(
    "audit",
    "equipoise audit study.jsonl\nequipoise run study.jsonl --readings 148 -- ./measure.sh   # serves the audit first",
    short_help="Plan duels that the best setting could lose.",
)
@STUDY
@DUELS
@CONTEXT
@AS_JSON
def audit(study: Path, duels: int, context: tuple[str, ...], as_json: bool) -> None:
    """Plan an audit of the best setting: the next asks serve it.

    Half of its duels are with settings spread over all the space, half with those that a bolder model thinks most of.
    Once all are told, the bound that `best` prints is audited: it held in more runs than an estimate does.
    """
    opt = opened(study)
    _say_planned(opt.audit(duels, context=context_of(opt, context)), as_json)


@command(
    "verify",
    """equipoise verify study.jsonl
equipoise verify study.jsonl --against '{"q1": 0, "q2": 0.5}' --duels 40
equipoise verify study.jsonl --test""",
    short_help="Plan fresh duels of the best setting with its rivals.",
)
@STUDY
@DUELS
@click.option("--runners-up", type=click.IntRange(min=0), default=2, show_default=True, help="Rivals beside the start.")
@click.option("--against", metavar="JSON", multiple=True, help="A rival of your own, instead; may be repeated.")
@click.option("--test", is_flag=True, help="Plan nothing: test the coins of the duels there are.")
@CONTEXT
@AS_JSON
def verify(
    study: Path,
    duels: int,
    runners_up: int,
    against: tuple[str, ...],
    test: bool,
    context: tuple[str, ...],
    as_json: bool,
) -> None:
    """Plan a verification of the best setting: fresh duels with its rivals, which the next asks serve.

    The rivals are the setting where the study started and the best ones elsewhere. What `best` then prints needs no
    model of the settings, the noise or the drift, only that the order of each pair was random. Where people judge, the
    next pairs serve it, and what is said is how often the best setting was preferred to each rival.

    With --test nothing is planned or measured. If no settings differed at all, then what was expected to win a duel
    would win it by the coin; the p-value says how likely the coins alone explain the wins of this study. Exact.
    """
    opt = opened(study)
    if test:
        p = opt.study.coin_test()
        text = "If no settings differed, coins would explain as many wins"
        told = {"p_value": p, "readings": opt.readings, "judgements": opt.judgements}
        say(as_json, told, f"{text} with probability {p:.2g} (exact test).")
        return
    rivals = [setting("--against", text) for text in against] or None
    plan = opt.verify(duels, runners_up=runners_up, against=rivals, context=context_of(opt, context))
    _say_planned(plan, as_json, opt)


@command("cancel", "equipoise cancel study.jsonl", short_help="Do not go on with an audit or a verification.")
@STUDY
@AS_JSON
def cancel(study: Path, as_json: bool) -> None:
    """Do not go on with the audit or verification that is under way. What was told for it stays."""
    opened(study).cancel()
    say(as_json, {"canceled": True}, "Canceled: the study goes on as before.")


def plan_data(plan: Plan) -> dict[str, Any]:
    """Return how far it is with a plan, for scripts."""
    return {"purpose": plan.purpose, "duels": plan.duels, "told": plan.told, "left": plan.left}


def plan_text(plan: Plan) -> str:
    """Return how far it is with a plan, for people."""
    return planned(plan.purpose, plan.duels, plan.told, plan.left)


def _say_planned(plan: Plan, as_json: bool, opt: Optimizer | None = None) -> None:
    text = plan_text(plan) + " The next asks serve it."
    if opt is not None and plan.points is not None:
        first, *others = (dialed(opt.space.decode(point), opt.space) for point in plan.points)
        text += f"\n{first}\n" + "\n".join(f"  against {other}" for other in others)
    say(as_json, plan_data(plan), text)
