"""`equipoise judge`: comparisons of two settings, asked in the terminal or answered by a script."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any, Literal

import click

from equipoise._validation import NUMBER
from equipoise.cli.common import AS_JSON, INTERRUPTED, STUDY, command, dialed, opened, printable, say
from equipoise.likelihoods import CHECK_EVERY, DEFAULT_STEPS, SCALES, Pair
from equipoise.optimizer import Optimizer

KEYS = {"slightly ": "s", "": "", "much ": "m"}
"""The key that precedes A or B, for each strength."""


@command(
    "judge",
    """equipoise judge study.jsonl
equipoise judge study.jsonl --judge anna --steps 7 --show './show.sh'
equipoise judge study.jsonl --json
equipoise judge study.jsonl 7 'much first'""",
    short_help="Say which of two settings is better.",
)
@STUDY
@click.argument("pair", type=click.IntRange(min=0), required=False)
@click.argument("answer", required=False)
@click.option("--judge", "name", default="", help="Name of the judge, if there are several.")
@click.option(
    "--steps",
    type=click.Choice([str(steps) for steps in SCALES]),
    default=str(DEFAULT_STEPS),
    show_default=True,
    help="The number of possible answers.",
)
@click.option(
    "--check-every",
    type=click.IntRange(min=0),
    default=CHECK_EVERY,
    show_default=True,
    help="After this number of new pairs, ask an earlier one in the other order; 0: never.",
)
@click.option("--numbers", is_flag=True, help="Accept a number too: how much better A is.")
@click.option(
    "--show",
    metavar="COMMAND",
    help="A program that shows both: it reads them as JSON, and the terminal does not print them.",
)
@AS_JSON
def judge(
    study: Path,
    pair: int | None,
    answer: str | None,
    name: str,
    steps: str,
    check_every: int,
    numbers: bool,
    show: str | None,
    as_json: bool,
) -> None:
    """Ask which of two settings is better, one pair after the other, in random order, until you quit.

    Every answer is on the disk before the next question; Ctrl-C loses nothing. With --json the command prints the next
    pair and asks nothing. With PAIR and ANSWER it answers that pair: a word of its scale, A, B, tie or `skip`.
    """
    opt = opened(study)
    if pair is not None:
        if answer is None:
            raise click.UsageError("ANSWER is missing: " + ", ".join(SCALES[int(steps)]))
        _tell(opt, pair, answer, numbers, name or None)
        say(as_json, {"id": pair, "answer": answer, "judgements": opt.judgements}, f"Pair {pair} is judged: {answer}.")
    elif as_json:
        say(True, _data(_next(opt, name, int(steps), check_every)), "")
    else:
        _ask_on(opt, name, int(steps), check_every, show, numbers)


def _ask_on(opt: Optimizer, name: str, steps: int, check_every: int, show: str | None, numbers: bool) -> None:
    """Ask until the user quits."""
    click.echo(_legend(steps, numbers))
    try:
        pair: Pair | None = _next(opt, name, steps, check_every)
        while pair is not None:
            answered = _asked(opt, pair, show, numbers)
            pair = _next(opt, name, steps, check_every) if answered is True else answered
    except (KeyboardInterrupt, click.Abort):  # click turns Ctrl-C and the end of the input into an Abort
        click.echo(_farewell(opt))
        if sys.stdin.isatty():
            sys.exit(INTERRUPTED)
        return
    click.echo(_farewell(opt))


def _asked(opt: Optimizer, pair: Pair, show: str | None, numbers: bool) -> Pair | Literal[True] | None:
    """Ask for one pair; return `True` after an answer, the pair to ask next after an undo, `None` to quit."""
    _show(opt, pair, show)
    keys = typed(pair.answers)
    while True:
        said = click.prompt(f"{opt.judgements + 1}. A or B", prompt_suffix="? ").strip().lower()
        if said in ("q", "quit"):
            return None
        if said in ("u", "undo"):
            return _undone(opt, pair)
        try:
            _tell(opt, pair.id, "skip" if said in ("k", "skip") else keys.get(said, said), numbers, None)
        except (TypeError, ValueError):
            click.echo("Please type one of: " + " ".join([*keys, "k", "u", "q"]) + ", or a number" * numbers)
        else:
            return True


def _undone(opt: Optimizer, pair: Pair) -> Pair:
    """Undo the last answer; return its pair, or the present pair if there is nothing to undo."""
    try:
        taken = opt.undo()
    except RuntimeError as nothing:
        click.echo(printable(str(nothing)))
        return pair
    click.echo(f"The answer to pair {taken} was taken back.")
    return next((other for other in opt.study.open_pairs if other.id == taken), pair)


def _tell(opt: Optimizer, pair: int, answer: str, numbers: bool, name: str | None) -> None:
    """Tell a typed answer; accept a number only if numbers are expected, since a 1 may be meant for A."""
    if answer == "skip":
        opt.tell(pair, failed="can't tell")
        return
    is_number = NUMBER.fullmatch(answer) is not None
    if is_number and not numbers:
        raise ValueError(f"ANSWER must be a word of the scale, A, B or tie; numbers need --numbers, got {answer}")
    opt.tell(pair, float(answer) if is_number else answer, judge=name)


def _next(opt: Optimizer, name: str, steps: int, check_every: int) -> Pair:
    """Return the open pair of a judge; else the oldest pair that is due to be asked again; else a new pair."""
    return opt.study.next_pair(judge=name, steps=steps, check_every=check_every, lag=max(check_every, 1))


def _show(opt: Optimizer, pair: Pair, show: str | None) -> None:
    """Print both settings, or pass them to a program that shows them."""
    if show is None:
        first, second = (dialed(x, opt.space) for x in (pair.first, pair.second))
        click.echo(f"\n  A: {first}\n  B: {second}")
        return
    shown = {"A": _plain(pair.first), "B": _plain(pair.second)}
    subprocess.run(show, shell=True, check=False, text=True, input=json.dumps(shown))


def typed(answers: tuple[str, ...]) -> dict[str, str]:
    """Return the answers by the keys that select them.

    Example:
        >>> typed(("second", "equal", "first"))
        {'b': 'second', '=': 'equal', 'a': 'first'}
    """
    keys = {}
    for answer in answers:
        strength, place = answer[: -len(answer.split()[-1])], answer.split()[-1]
        keys["=" if place == "equal" else KEYS[strength] + {"first": "a", "second": "b"}[place]] = answer
    return keys


def _legend(steps: int, numbers: bool) -> str:
    words = [f"{key}: {_in_words(answer)}" for key, answer in typed(SCALES[steps]).items()]
    return ", ".join(words) + "; a number: how much better A is" * numbers + "; k: skip, u: undo, q: quit"


def _in_words(answer: str) -> str:
    strength, _, place = answer.rpartition(" ")
    name = {"first": "A", "second": "B"}.get(place)
    return "equal" if name is None else " ".join(filter(None, (name, "is", strength, "better")))


def _farewell(opt: Optimizer) -> str:
    plural = "" if opt.judgements == 1 else "s"
    return f"\n{opt.judgements} judgement{plural} so far; the same command continues, `equipoise best` says the best."


def _data(pair: Pair) -> dict[str, Any]:
    return {"id": pair.id, "first": pair.first, "second": pair.second, "answers": pair.answers}


def _plain(x: Any) -> Any:
    return x.tolist() if hasattr(x, "tolist") else x
