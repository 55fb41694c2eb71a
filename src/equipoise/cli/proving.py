"""`equipoise audit`, `verify` and `cancel`: planned duels that check a claim before the study continues."""

from typing import Any

import click

from equipoise.answer import duels_needed, planned
from equipoise.cli.common import CONTEXT, Said, context_of, dialed, setting, study_command
from equipoise.optimizer import Optimizer
from equipoise.study import Plan

DUELS = click.option(
    "--duels",
    type=click.IntRange(min=2),
    default=24,
    show_default=True,
    help="The number of duels; each takes two readings, or a judgement.",
)


@study_command(
    "audit",
    "equipoise audit study.jsonl\nequipoise run study.jsonl --readings 148 -- ./measure.sh   # serves the audit first",
    short_help="Plan duels that test the bound.",
)
@DUELS
@CONTEXT
def audit(opt: Optimizer, duels: int, context: tuple[str, ...]) -> Said:
    """Plan an audit of the best setting; the next asks belong to it.

    Half of its duels use settings spread over the whole space, half the settings that a bolder model rates highest.
    After the last reading, the bound that `best` prints is audited. In our measurements an audited bound held more
    often than an estimated one.
    """
    return _planned(opt.audit(duels, context=context_of(opt, context)))


@study_command(
    "verify",
    """equipoise verify study.jsonl
equipoise verify study.jsonl --against '{"q1": 0, "q2": 0.5}' --duels 40
equipoise verify study.jsonl --test""",
    short_help="Plan fresh duels of the best setting with its rivals.",
)
@DUELS
@click.option(
    "--runners-up", type=click.IntRange(min=0), default=2, show_default=True, help="Rivals besides the start."
)
@click.option("--against", metavar="JSON", multiple=True, help="Another rival instead of these; repeatable.")
@click.option("--test", is_flag=True, help="Plan nothing; test the coins of the existing duels.")
@CONTEXT
def verify(
    opt: Optimizer,
    duels: int,
    runners_up: int,
    against: tuple[str, ...],
    test: bool,
    context: tuple[str, ...],
) -> Said:
    """Plan a verification of the best setting: fresh duels with its rivals. The next asks belong to it.

    The rivals are the start and the best settings elsewhere. The result, which `best` prints, needs no model of the
    settings, the noise or the drift, only the random order of each pair. In a study of judgements the next pairs belong
    to it, and the result is how often judges preferred the best setting to each rival.

    --test plans and measures nothing. If all settings were equal, a coin would decide each duel. The p-value is the
    exact probability that coins alone give at least this study's wins.
    """
    if test:
        p = opt.study.coin_test()
        text = "If no settings differed, coins alone would give as many wins"
        told = {"p_value": p, "readings": opt.readings, "judgements": opt.judgements}
        return told, f"{text} with probability {p:.2g} (exact test)."
    rivals = [setting("--against", text) for text in against] or None
    plan = opt.verify(duels, runners_up=runners_up, against=rivals, context=context_of(opt, context))
    return _planned(plan, opt)


@study_command("cancel", "equipoise cancel study.jsonl", short_help="Stop an audit or a verification.")
def cancel(opt: Optimizer) -> Said:
    """Stop the present audit or verification. Its readings stay."""
    opt.cancel()
    return {"canceled": True}, "Canceled: the study continues as before."


def plan_data(plan: Plan) -> dict[str, Any]:
    """Return the progress of a plan, for scripts."""
    return {"purpose": plan.purpose, "duels": plan.duels, "told": plan.told, "left": plan.left}


def plan_text(plan: Plan) -> str:
    """Return the progress of a plan, for people."""
    return planned(plan.purpose, plan.duels, plan.told, plan.left)


def _planned(plan: Plan, opt: Optimizer | None = None) -> Said:
    text = plan_text(plan) + " The next asks belong to it."
    if opt is not None and plan.points is not None:
        first, *others = (dialed(opt.space.decode(point), opt.space) for point in plan.points)
        text += f"\n{first}\n" + "\n".join(f"  against {other}" for other in others)
        if opt.readings and plan.duels < (needed := len(others) * duels_needed(len(others))):
            text += f"\nToo few duels for a verdict on all of them: it takes {needed}, or fewer --runners-up."
    return plan_data(plan), text
