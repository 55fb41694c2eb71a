"""Claims in words: the shell, the page, the notebook and `str()` all take their sentences from here.

A number is written to the digits that its uncertainty leaves: an interval to two digits of half its width; a bound,
which is an uncertainty itself, to two digits and rounded up. Python's own values, JSON and CSV stay exact.
"""

import math
from dataclasses import replace
from decimal import ROUND_CEILING, ROUND_HALF_EVEN, Decimal
from html import escape
from typing import TYPE_CHECKING

from equipoise.spaces import dials

if TYPE_CHECKING:
    from equipoise.answer.claim import Claim, Difference, Forecast, Kind, Recommendation
    from equipoise.answer.shares import Share

PHRASES: "dict[Kind, str]" = {
    "theorem": "By theorem",
    "verified": "Verified by fresh duels",
    "audited": "By audit",
    "estimate": "By estimate",
    "guess": "By a guess",
}
"""The beginning of a claim of each kind."""

EVERYTHING = "all settings"
"""The scope of a claim about the whole space."""

NO_BOUND = "A guess: there is no bound yet."
"""The sentence used while too little is known."""

NARROW = "It may have missed a narrow top: much of the space lies far from all readings."
"""The sentence added to a bound if much of the space is far from all readings."""

MIN_SEEDS = 5
"""A claim about the mean over fewer seeds is a guess: the difference of two settings varies from seed to seed."""

SINGLE_RIVALS = ("the start", "1 runner-up")
"""Scopes of a claim that are one setting."""

DIGITS = 2
"""Significant digits of an uncertainty."""

MOST_DIGITS = 15
"""Significant digits that a float holds."""

LOGARITHM = "in log "
"""The prefix of the unit of f if it is a natural logarithm, as of a rate or of odds: differences are factors."""

MOST_DECIMALS, LARGEST = 6, 1e9
"""The most digits of a number written without an exponent."""


def sentences(best: "Recommendation") -> list[str]:
    """Return the sentences about a recommendation: the setting, the claims, the start, the judges, the effort.

    Example:
        >>> from equipoise.answer import Claim, Difference, Forecast, Recommendation
        >>> start = Difference(0.312, 0.204, 0.419, "estimate")
        >>> claim = Claim("audited", 0.0423, "all settings")
        >>> forecast = Forecast(24, 0.025)
        >>> print(Recommendation({"q1": 0.7}, 0.0423, 78, "audited", start, (claim,), unit="mW", forecast=forecast))
        q1 = 0.7
        By audit, nothing is better by more than 0.043 mW.
        24 more duels of audit would bring the bound to about 0.025 mW.
        Better than the start by 0.31 [0.20, 0.42] mW, by estimate.
        After 78 readings.
    """
    known = best.against_start
    told = known is not None and (math.isfinite(known.low) or known.chosen is not None)
    start = [compared(known, best.unit)] if told else []
    if best.compromise is not None:
        return [setting(best), *grounds(best), gained(best), effort(best)]
    return [setting(best), *grounds(best), *start, *preferences(best), effort(best)]


def grounds(best: "Recommendation") -> list[str]:
    """Return the sentences about limits and bounds; with several objectives there is no bound."""
    limits = [] if best.usability is None else [str(best.usability)]
    return limits if best.compromise is not None else [*limits, *claims(best), *prospects(best)]


def gained(best: "Recommendation") -> str:
    """Return the comparison with the start; with several objectives in each of them."""
    if best.compromise is not None:
        return f"A compromise: {best.compromise.gains}."
    return compared(best.against_start, best.unit)


def as_html(best: "Recommendation") -> str:
    """Return a table of the setting for a notebook, with the claims below it; all text is escaped.

    Example:
        >>> from equipoise.answer import Recommendation
        >>> print(as_html(Recommendation({"lens": "<in>"}, 0.04, 12)))
        <table><tr><th>lens</th><td>&lt;in&gt;</td></tr></table><p>By estimate, nothing ...<br>After 12 readings.</p>
    """
    cells = [(dial.name, f"{dial.value} {dial.unit}".rstrip()) for dial in dials(best.readouts, best.x)]
    rows = "".join(f"<tr><th>{escape(name)}</th><td>{escape(value)}</td></tr>" for name, value in cells)
    return f"<table>{rows}</table><p>{'<br>'.join(map(escape, sentences(best)[1:]))}</p>"


def setting(best: "Recommendation") -> str:
    """Return the recommended setting, with units: `q1 = 0.7040 A, lens = in`."""
    return ", ".join(map(str, dials(best.readouts, best.x)))


def claims(best: "Recommendation") -> list[str]:
    """Return each claim of a recommendation, the best first."""
    return [claimed(claim, best.unit) for claim in best.claims or (best.overall,)]


def prospects(best: "Recommendation") -> list[str]:
    """Return warnings about the bound about all settings, the readings it lacks, and its forecast after an audit.

    Example:
        >>> from equipoise.answer import Claim, Recommendation
        >>> guess = Claim("guess", 2.06, "all settings", missing=17)
        >>> prospects(Recommendation({"q1": 0.7}, 2.06, 13, "guess", claims=(guess,)))
        ['An estimate needs 17 more readings.']
    """
    claim = best.overall
    few = [f"An estimate needs {claim.missing} more reading{'s' * (claim.missing != 1)}."] * (claim.missing > 0)
    foreseeable = [] if best.forecast is None else [foreseen(best.forecast, best.unit)]
    return [*(few or [NARROW] * claim.narrow), *foreseeable]


def unforeseen(eps: float, missing: int, unit: str = "") -> str:
    """Return the sentence that the time to reach a bound cannot be forecast."""
    few = f": an estimate needs {missing} more reading{'s' * (missing != 1)}" if missing else ""
    return f"When a bound of {amount(eps, unit)} is reached cannot be forecast{few}."


def out_of_reach(eps: float, duels: int, bound: float, unit: str = "") -> str:
    """Return the sentence that a bound is out of reach, with the forecast after an audit."""
    what = f"{duels} more duels of audit would bring the bound to about {amount(bound, unit)} only"
    return f"A bound of {amount(eps, unit)} is out of reach so far: {what}."


def reach_expected(eps: float, duels: int, left: int | None = None, unit: str = "") -> str:
    """Return the sentence that forecasts the duels of audit until a bound is reached, and whether the budget suffices.

    Example:
        >>> reach_expected(0.25, 24)
        'A bound of 0.25 is expected after about 24 more duels of audit, which are 48 readings.'
        >>> reach_expected(0.25, 24, 30)
        'A bound of 0.25 is not expected within 30 more readings: it takes about 24 more duels of audit.'
    """
    bound, audit = f"A bound of {amount(eps, unit)}", f"about {duels} more duels of audit"
    if left is not None and 2 * duels > left:
        return f"{bound} is not expected within {left} more readings: it takes {audit}."
    return f"{bound} is expected after {audit}, which are {2 * duels} readings."


def claimed(claim: "Claim", unit: str = "") -> str:
    """Return a claim in words.

    Example:
        >>> from equipoise.answer import Claim
        >>> print(claimed(Claim("verified", 0.0423, "the start and 2 runners-up"), "mW"))
        Verified by fresh duels, none of the start and 2 runners-up is better by more than 0.043 mW.
    """
    if math.isinf(claim.bound):
        return f"There is no{' verified' * (claim.kind == 'verified')} bound: {claim.why}." if claim.why else NO_BOUND
    what = f"{claim.scope} is not" if claim.scope in SINGLE_RIVALS else f"none of {claim.scope} is"
    what = "nothing is" if claim.scope == EVERYTHING else what
    return f"{PHRASES[claim.kind]}, {what} better by more than {amount(claim.bound, unit)}."


def foreseen(forecast: "Forecast", unit: str = "") -> str:
    """Return the forecast of a bound after an audit."""
    duels = f"{forecast.duels} more duel{'s' * (forecast.duels != 1)} of audit"
    return f"{duels} would bring the bound to about {amount(forecast.bound, unit)}."


def left_to_gain(claim: "Claim", unit: str = "") -> str:
    """Return a claim about all settings as the title of a picture."""
    if math.isinf(claim.bound):
        return NO_BOUND.rstrip(".")
    where = "" if claim.scope == EVERYTHING else " within the limits"
    return f"{PHRASES[claim.kind]}, at most {amount(claim.bound, unit)} remains to be gained{where}"


def compared(start: "Difference | None", unit: str = "") -> str:
    """Return the comparison of the recommended setting with the start; with judgements, how often it is chosen.

    Example:
        >>> from equipoise.answer import Difference
        >>> compared(Difference(3e-7, -0.0009, 4e-5, "estimate"), "mW")
        'Not shown to be better than the start: 0.00000 [-0.00090, 0.00004] mW, by estimate.'
    """
    if start is not None and start.low == start.high:
        return "This is the start."
    chosen = None if start is None else start.chosen
    often = "" if chosen is None else f"chosen over the start in {100 * chosen:.0f} % of cases."
    if start is None or not math.isfinite(start.low):
        return f"By a first estimate, {often}" if often else "Not compared with the start yet."
    size = replace(-start if start.high < 0 else start, chosen=None)
    word = "Better than the start by" if start.low > 0 else "Worse than the start by"
    word = word if start.clear else "Not shown to be better than the start:"
    return f"{word} {differing(size, unit)}." + (f" It is {often}" if often else "")


def differing(found: "Difference", unit: str = "") -> str:
    """Return a difference with its interval, its basis and, with judgements, how often the first is chosen.

    Example:
        >>> from equipoise.answer import Difference
        >>> differing(Difference(0.31, 0.2, 0.42, "verified", 24))
        '0.31 [0.20, 0.42], verified by 24 fresh duels'
        >>> differing(Difference(0.3, 0.1, 0.5, "estimate", also=Difference(0.2, -1.0, 1.4, "verified", 8)))
        '0.30 [0.10, 0.50], by estimate (0.2 [-1.0, 1.4], verified by 8 fresh duels)'
    """
    phrase = PHRASES[found.kind][0].lower() + PHRASES[found.kind][1:]
    ground = f"verified by {found.duels} fresh duels" if found.kind == "verified" else phrase
    also = "" if found.also is None else f" ({differing(found.also, unit)})"
    said = f"{interval(found.value, found.low, found.high)}{_after(unit)}"
    if unit.startswith(LOGARITHM):
        said += f", a factor of {interval(*map(_factor, (found.value, found.low, found.high)))}"
    said += f", {ground}{also}"
    if found.preferred is not None:
        return f"{said}: preferred to the other in {shared(found.preferred)}"
    return said if found.chosen is None else f"{said}: chosen over the other in {100 * found.chosen:.0f} % of cases"


def shared(found: "Share") -> str:
    """Return how often one setting was preferred: `79 % [52 %, 94 %] of cases, verified by 24 fresh judgements`."""
    value, low, high = (f"{100 * each:.0f} %" for each in (found.value, found.low, found.high))
    return f"{value} [{low}, {high}] of cases, verified by {found.judgements} fresh judgements"


def preferences(best: "Recommendation", blind: bool = False) -> list[str]:
    """Return how often fresh judgements preferred the recommended setting to each rival."""
    rivals = [(", ".join(map(str, dials(best.readouts, x))), found) for x, found in best.preferred]
    return [f"Preferred to {'another setting' if blind else rival} in {shared(found)}." for rival, found in rivals]


def effort(best: "Recommendation") -> str:
    """Return the number of readings and judgements, and the meaning of 1 if there are only judgements."""
    unit = " What is better by 1 is chosen in 84 % of cases." if best.judgements and not best.readings else ""
    seeds = "" if best.seeds is None else f" on {best.seeds} seed{'' if best.seeds == 1 else 's'}"
    few = f" A guess: a mean over seeds needs {MIN_SEEDS}." if best.seeds is not None and best.seeds < MIN_SEEDS else ""
    return f"After {counted(best.readings, best.judgements)}{seeds}.{few}{unit}"


def planned(purpose: str, duels: int, told: int, left: int) -> str:
    """Return the progress of an audit or a verification.

    Example:
        >>> planned("verify", 24, 5, 18)
        'A verification is under way: 5 of 24 duels told, 18 not yet asked.'
    """
    name = {"audit": "An audit", "verify": "A verification"}[purpose]
    return f"{name} is under way: {told} of {duels} duels told, {left} not yet asked."


def counted(readings: int, judgements: int = 0) -> str:
    """Return how many readings and judgements there are.

    Example:
        >>> counted(1), counted(0, 40), counted(2, 1)
        ('1 reading', '40 judgements', '2 readings and 1 judgement')
    """
    told = {"reading": readings, "judgement": judgements}
    words = [
        f"{n} {word}{'' if n == 1 else 's'}" for word, n in told.items() if n or (word == "reading" and not judgements)
    ]
    return " and ".join(words)


def amount(bound: float, unit: str = "") -> str:
    """Return a bound to two digits, rounded up so that it stays one, with its unit.

    Example:
        >>> amount(0.0423), amount(0.04, "mW"), amount(1234.0), amount(3.21e-9), amount(0.0)
        ('0.043', '0.040 mW', '1300', '3.3e-09', '0')
        >>> amount(0.2, "in log rate")
        '0.20 in log rate, a factor of 1.23'
    """
    decimals = _decimals(bound)
    shown = _rounded(bound, decimals, ROUND_CEILING)
    factor = f", a factor of {1.0 + _up(_factor(bound) - 1.0):g}" if unit.startswith(LOGARITHM) else ""
    return f"{_text(shown, decimals, bound)}{_after(unit)}{factor}"


def _factor(logarithm: float) -> float:
    return math.exp(min(logarithm, 700.0))


def _up(bound: float) -> float:
    """Return a bound to two digits, rounded up."""
    return float(_rounded(bound, _decimals(bound), ROUND_CEILING))


def interval(value: float, low: float, high: float) -> str:
    """Return a value with its interval, to two digits of half its width; limits keep their side of zero.

    Example:
        >>> interval(0.31234, 0.2, 0.42), interval(1.0, 0.0004, 2.0), interval(123456.0, 110000.0, 140000.0)
        ('0.31 [0.20, 0.42]', '1.0000 [0.0004, 2.0000]', '123000 [110000, 140000]')
        >>> interval(0.31234, -math.inf, math.inf)
        '0.31 (no interval yet)'
    """
    half, nearest = 0.5 * (high - low), low if low > 0 else -high if high < 0 else 0.0  # the limit next to zero
    largest = max(map(abs, filter(math.isfinite, (value, low, high))), default=0.0)
    decimals = _decimals(half if math.isfinite(half) and half > 0 else value)
    while nearest and decimals < MOST_DECIMALS and not _rounded(nearest, decimals):
        decimals += 1
    decimals = min(decimals, _decimals(largest) + MOST_DIGITS - DIGITS)
    value_text, low_text, high_text = (
        _text(_rounded(each, decimals), decimals, largest) if math.isfinite(each) else f"{each:g}"
        for each in (value, low, high)
    )
    known = math.isfinite(low) or math.isfinite(high)
    return f"{value_text} [{low_text}, {high_text}]" if known else f"{value_text} (no interval yet)"


def _decimals(uncertainty: float) -> int:
    """Return the place after the point of the last digit that matters; negative before the point."""
    return DIGITS - 1 - math.floor(math.log10(abs(uncertainty))) if uncertainty and math.isfinite(uncertainty) else 0


def _rounded(value: float, decimals: int, rounding: str = ROUND_HALF_EVEN) -> Decimal:
    return Decimal(repr(float(value))).quantize(Decimal(1).scaleb(-decimals), rounding) if value else Decimal(0)


def _text(shown: Decimal, decimals: int, largest: float) -> str:
    """Return a rounded number, without an exponent if it is short enough."""
    if decimals <= MOST_DECIMALS and abs(largest) < LARGEST:
        return f"{shown + 0:.{max(decimals, 0)}f}"
    size = math.floor(math.log10(abs(shown))) if shown else 0
    return f"{float(shown):.{max(decimals + size, 0)}e}" if shown else "0"


def _after(unit: str) -> str:
    return f" {unit}" if unit else ""
