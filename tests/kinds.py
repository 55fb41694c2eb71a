"""One small study of every kind, each a function that begins its log, for tests that take all of them somewhere.

Readings are rounded, so that the logs are short. Every function returns the study; `tests/data/v0.2.0` has the logs
that version 0.2.0 wrote of them.
"""

import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np

import equipoise as eq

LATTICE = np.array([[i / 3, j / 3] for i in range(4) for j in range(4)])
HILL = eq.Space(q1=eq.Float(-2, 2, unit="A"), q2=eq.Float(-1, 1))
MIXED = eq.Space(
    rate=eq.Float(1e-3, 1.0, log=True),
    gap=eq.Float(0, 1, step=0.25),
    n=eq.Int(1, 4),
    mode=eq.Choice(["slow", "fast"]),
    time=eq.Float(0, 1),  # called as a column of the table is
    lens="in",
)
WEATHER = eq.Space(q1=eq.Float(0, 1), temp=eq.Context(0, 40))
DRINKS = eq.Finite(["espresso", "filter", "mocha", "latte", "ristretto"])
START = {"q1": 0.5, "q2": 0.0}
LOW = {"rate": 0.01, "gap": 0.25, "n": 1, "mode": "slow", "time": 0.5}


def height(x):
    """What is to be found out of a setting, without noise or drift."""
    if isinstance(x, str):
        return -float(len(x))
    values = list(x.values()) if isinstance(x, dict) else np.asarray(x).tolist()
    numbers = [float(v) for v in values if isinstance(v, (int, float))]
    return -sum((v - 0.3) ** 2 for v in numbers)


def reading(trial):
    """A reading that drifts, the same for the same trial."""
    return round(height(trial.x) + 0.2 * trial.id + 0.1 * np.sin(37.0 * trial.id), 4)


def read(opt, readings, context=None, **told):
    """Measure some trials, one after the other."""
    for _ in range(readings):
        trial = opt.ask(context=context)
        opt.tell(trial, reading(trial), **told)
    return opt


def judge(opt, judgements, steps=5, judge="anna", check_every=4):
    """Judge some pairs, one after the other; some of them are asked again."""
    for _ in range(judgements):
        pair = opt.study.next_pair(judge=judge, steps=steps, check_every=check_every)
        opt.tell(pair, verdict(pair))
    return opt


def verdict(pair):
    """The answer to a pair: no word for much, and the first place has a small advantage."""
    better = height(pair.first) - height(pair.second) + 0.05
    return "equal" if abs(better) < 0.1 and "equal" in pair.answers else "first" if better > 0 else "second"


def empty(path):
    return eq.Optimizer(HILL, log=path, rng=0)


def finite(path):
    return read(eq.Optimizer(eq.Finite(LATTICE), log=path, rng=0), 12)


def given(path):
    """The setting of the paper: the kernel is known, and nothing is assumed of the offset."""
    return read(eq.Optimizer(eq.Finite(LATTICE), kernel=eq.RBF(0.4), policy=eq.IDS(), log=path, rng=0), 13)


def box(path):
    return read(eq.Optimizer(eq.Box([(-1, 1), (0, 2)]), log=path, rng=0), 23)


def named(path):
    return read(eq.Optimizer(MIXED, log=path, rng=0), 12)


def names(path):
    return read(eq.Optimizer(DRINKS, log=path, rng=0), 9)


def contexts(path):
    opt = eq.Optimizer(WEATHER, log=path, rng=0)
    for temp in (10, 20, 30, 20):
        read(opt, 3, {"temp": temp})  # the second half of a pair is measured at another temperature
    return opt


def blocks(path):
    opt = read(eq.Optimizer(HILL, block="monday", log=path, rng=0), 8)
    opt.begin_block("tuesday")
    return read(opt, 6)


def seeds(path):
    opt = read(eq.Optimizer(HILL, seeds=True, log=path, rng=0), 15)
    opt.correct(3, 0.4)
    return opt


def folds(path):
    return read(eq.Optimizer(DRINKS, seeds=["fold 1", "fold 2"], log=path, rng=0), 14)


def runs(path):
    return read(eq.Optimizer(HILL, offset=eq.Blocks(4), log=path, rng=0), 12)


def workers(path):
    opt = eq.Optimizer(HILL, log=path, rng=0)
    for i in range(12):
        trial = opt.ask(worker=f"laser-{i % 2}")
        opt.tell(trial, reading(trial) + 5 * (i % 2), time=float(i), error=0.05)
    opt.ask(n=3, worker="laser-1")
    opt.study.set("unit", "nA")
    opt.study.note("dialed in", "for the night", x={"q1": 0.5, "q2": 0.5})
    return opt


def covariates(path):
    opt = eq.Optimizer(eq.Space(q1=eq.Float(0, 1)), log=path, rng=0)
    for i in range(12):
        trial = opt.ask()
        opt.tell(trial, reading(trial), covariates={"humidity": round(0.4 + 0.1 * np.sin(i), 3)})
    return opt


def history(path):
    opt = eq.Optimizer(HILL, log=path, rng=0)
    for i, (q1, q2) in enumerate(np.random.default_rng(0).uniform(-1, 1, (8, 2)).round(3).tolist()):
        opt.add({"q1": 2 * q1, "q2": q2}, round(40 + height([2 * q1, q2]), 3), block="2025", time=float(i))
    return read(opt, 6)


def limited(path):
    return read(eq.Optimizer(HILL, start=START, drop=2.0, max_step={"q1": 1.0}, log=path, rng=0), 12)


def started(path):
    return read(eq.Optimizer(HILL, start=START, log=path, rng=0), 9)


def constrained(path):
    space = eq.Space(q1=eq.Float(0, 1), q2=eq.Float(0, 1), constraint="q1 + q2 <= 1")
    return read(eq.Optimizer(space, log=path, rng=0), 12)


def judged(path):
    return judge(eq.Optimizer(eq.Space(blur=eq.Float(0, 1), gain=eq.Int(0, 3)), log=path, rng=0), 10)


def judged_names(path):
    opt = judge(eq.Optimizer(DRINKS, log=path, rng=0), 8, steps=3)
    opt.add("filter", "second", against="latte", judge="ben", steps=2)
    opt.tell(opt.ask_pair(judge="ben", steps=2), failed="cold")
    opt.correct(opt.study.answers()[0][0], "second")
    opt.ask_pair(judge="ben")
    return opt


def judged_numbers(path):
    opt = eq.Optimizer(eq.Finite(LATTICE), log=path, rng=0)
    for i in range(9):
        pair = opt.ask_pair(judge="anna" if i % 3 else "ben")
        opt.tell(pair, round(10 * (height(pair.first) - height(pair.second)), 2))
    return opt


def judged_and_read(path):
    opt = eq.Optimizer(HILL, log=path, rng=0)
    for _ in range(4):
        judge(opt, 2)
        read(opt, 3)
    return opt


def failed(path):
    opt = read(eq.Optimizer(HILL, log=path, rng=0), 5)
    for again in (4, 3, 0):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", eq.DuelGivenUp)
            opt.tell(opt.ask(), failed="shutter closed")
        read(opt, again)
    return opt


def corrected(path):
    opt = read(eq.Optimizer(HILL, log=path, rng=0), 11)
    opt.correct(3, 0.75, time=3.5)
    opt.retract(5)
    opt.correct(10, 0.1)
    return opt


def expired(path):
    opt = read(eq.Optimizer(HILL, log=path, rng=0), 9)
    opt.study.expire(opt.ask())
    opt.ask(worker="laser-1")
    return opt


def spoiled(path):
    """A reading that cannot be, and pairs measured too far apart."""
    opt = eq.Optimizer(HILL, max_gap=1.5, log=path, rng=0)
    with warnings.catch_warnings():
        for expected in (eq.DuelGivenUp, eq.study.SetAside):
            warnings.simplefilter("ignore", expected)
        for i in range(14):
            trial = opt.ask()
            opt.tell(trial, 1e200 if i == 6 else reading(trial), time=float(i + 2 * (i > 9)))
    return opt


def audited(path):
    opt = read(eq.Optimizer(HILL, log=path, rng=0), 10)
    opt.audit(2)
    return read(opt, 5)


def auditing(path):
    opt = read(eq.Optimizer(HILL, log=path, rng=0), 10)
    opt.audit(4)
    return read(opt, 3)


def verified(path):
    opt = read(eq.Optimizer(HILL, log=path, rng=0), 10)
    opt.verify(4, runners_up=1)
    return read(opt, 9)


def verified_by_judges(path):
    opt = judge(eq.Optimizer(DRINKS, log=path, rng=0), 6, check_every=0)
    opt.verify(4, runners_up=1)
    return judge(opt, 5, check_every=0)


def canceled(path):
    opt = read(eq.Optimizer(HILL, log=path, rng=0), 10)
    opt.verify(4)
    read(opt, 3)
    opt.cancel()
    return opt


def widened(path):
    opt = read(eq.Optimizer(HILL, start=START, log=path, rng=0), 8)
    opt.study.set("q1", (-4, 2))
    return read(judge(opt, 2), 4)


def minimized(path):
    return read(eq.Optimizer(HILL, minimize=True, start=START, log=path, rng=0), 10)


def counts(path):
    return drawn(eq.Optimizer(HILL, likelihood=eq.likelihoods.Poisson(), log=path, rng=0), 13)


def shares(path):
    return drawn(eq.Optimizer(eq.Finite(LATTICE), likelihood=eq.likelihoods.Binomial(), log=path, rng=0), 12)


def counts_and_judgements(path):
    opt = eq.Optimizer(HILL, likelihood=eq.likelihoods.Poisson(), log=path, rng=0)
    opt.add(START, 3, block="2025")
    for _ in range(3):
        judge(opt, 2)
        drawn(opt, 3)
    return opt


def counts_in_blocks(path):
    return drawn(eq.Optimizer(HILL, likelihood=eq.likelihoods.Poisson(), offset=eq.Blocks(4), log=path, rng=0), 9)


def drawn(opt, readings):
    """Answer some trials under the likelihood of a study, one after the other."""
    rng = np.random.default_rng(0)
    for _ in range(readings):
        trial = opt.ask()
        opt.tell(trial, opt.study.setup.likelihood.draw(1.0 + 0.5 * reading(trial), rng))
    return opt


def limits_by_name(path):
    """Several numbers a trial, of which one is missing at times, and limits."""
    limits = ["loss <= 3", "size <= start + 1"]
    opt = eq.Optimizer(HILL, objective="flux", limits=limits, start=START, log=path, rng=0)
    return read_by_name(opt, 13, missing=["size"])


def objectives(path):
    """Two objectives and a limit, never to be broken."""
    how = {"objective": "flux, -size", "limits": ["size <= start + 2"], "safe": True}
    return read_by_name(eq.Optimizer(HILL, start=START, log=path, rng=0, **how), 12)


def by_name(opt, value):
    """A value as the numbers of all outputs of a study, of which the first one may be a count."""
    found = {name: round(value * (k + 1) / 2, 4) for k, name in enumerate(opt.study.setup.outputs.names)}
    exact = opt.study.setup.likelihood.exact
    return found if exact else found | {name: round(abs(8 * value)) for name in list(found)[:1]}


def read_by_name(opt, readings, missing=()):
    """Measure some trials; every fifth time some numbers are missing."""
    for k in range(readings):
        trial = opt.ask()
        left = missing if k % 5 == 4 else []
        opt.tell(trial, {n: y for n, y in by_name(opt, reading(trial)).items() if n not in left}, missing=left)
    return opt


# What meets in one study: each of these has at least four features of the others.


def kiln(path):
    """Minimized, a log whole number, a choice, contexts, days, and what was measured beside."""
    parameters = {"n": eq.Int(1, 64, log=True), "mode": eq.Choice(["slow", "sehr schnell"]), "temp": eq.Context(0, 40)}
    opt = eq.Optimizer(eq.Space(**parameters), minimize=True, block="monday", log=path, rng=0)
    for k in range(6):
        read(opt, 2, {"temp": 10 + 5 * k}, covariates={"humidity": 0.1 * k})
        if k == 2:
            opt.begin_block("tuesday, late")
    return opt


def careful_on_seeds(path):
    """History, a drop, a longest step, seeds, days and a range that is widened."""
    start = {"q1": 0.5, "class": 0.0}
    space = eq.Space(**{"q1": eq.Float(-2, 2), "class": eq.Float(-1, 1)})
    parts = {"start": start, "drop": 2.0, "max_step": {"q1": 0.5}, "seeds": True}
    opt = eq.Optimizer(space, block="monday", log=path, rng=0, **parts)
    for k in range(8):
        opt.add({"q1": 0.5 * k - 2, "class": 0.1 * k}, 40 - 0.1 * k * k, block="2025")
    read(opt, 6)
    opt.study.set("q1", (-2, 3))
    return read(opt, 5)


def counts_by_name(path):
    """A count and a limit, one of them missing at times, a choice, failures, fits left for later."""
    how = {"objective": "hits", "limits": ["size <= start + 3"], "likelihood": eq.likelihoods.Poisson()}
    space = eq.Space(q1=eq.Float(-2, 2), mode=eq.Choice(["x", "y"]))
    opt = eq.Optimizer(space, start={"q1": 0, "mode": "x"}, block="monday", log=path, rng=0, **how)
    read_by_name(opt, 11, missing=["size"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", eq.DuelGivenUp)
        opt.tell(opt.ask(), failed="shutter closed")
    for _ in range(6):
        trial = opt.ask()
        opt.tell(trial, by_name(opt, reading(trial)), refit=False)
    return opt


def shares_on_seeds(path):
    return drawn(
        eq.Optimizer(
            HILL, likelihood=eq.likelihoods.Binomial(), seeds=True, minimize=True, start=START, log=path, rng=0
        ),
        11,
    )


def crowd(path):
    """Workers of an executor, each its own block."""
    opt = eq.Optimizer(MIXED, minimize=True, start=LOW, log=path, rng=0)
    with ThreadPoolExecutor(1) as pool:
        opt.run(lambda x: round(height(x), 4), readings=10, executor=pool, workers=1, blocks=True)
    return opt


def tasted_at_contexts(path):
    """Judgements at contexts, by two judges, with a day and readings between."""
    opt = eq.Optimizer(WEATHER, block="monday", log=path, rng=0)
    for k in range(6):
        context = {"temp": 10 + 5 * (k % 3)}
        pair = opt.ask_pair(judge="anna" if k % 2 else "", steps=(2, 3, 5)[k % 3], context=context)
        opt.tell(pair, verdict(pair))
        read(opt, 1, context)
    return opt


def single(path):
    """A single setting: nothing is left to compare."""
    return read(eq.Optimizer(eq.Finite([[0.5]]), minimize=True, block="monday", log=path, rng=0), 4)


def folded(path, readings=504):
    """More readings than are kept as they are."""
    opt = eq.Optimizer(eq.Space(n=eq.Int(0, 9)), policy=eq.policies.Random(pairs=True), design=0, log=path, rng=0)
    return read(opt, readings)


KINDS = {
    build.__name__.replace("_", "-"): build
    for build in (
        *(
            empty,
            finite,
            given,
            box,
            named,
            names,
            contexts,
            blocks,
            seeds,
            folds,
            runs,
            workers,
            covariates,
            history,
            limited,
            started,
        ),
        *(constrained, judged, judged_names, judged_numbers, judged_and_read, failed, corrected, expired, spoiled),
        *(audited, auditing, verified, verified_by_judges, canceled, minimized, counts, shares, folded),
        *(counts_and_judgements, counts_in_blocks, widened),
        *(limits_by_name, objectives),
        *(kiln, careful_on_seeds, counts_by_name, shares_on_seeds, crowd, tasted_at_contexts, single),
    )
}
"""Every kind of study, by name."""
