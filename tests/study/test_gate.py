"""The gate: whatever proposes a trial, it is within the space, the constraint and the limits when it is handed out."""

import ast
import itertools
import warnings
from pathlib import Path

import numpy as np
import pytest

import equipoise as eq
from equipoise.answer import cautious
from equipoise.study import DropExceeded, Estranged
from equipoise.study.settings_read import feasibility

SOURCES = Path(eq.__file__).parent
STEP = {"a": 0.1, "b": 0.15, "n": 1}
DROP = 0.6
SPACES = {
    "mixed": eq.Space(a=eq.Float(0, 1), b=eq.Float(0, 1), n=eq.Int(0, 6), constraint="a + b <= 1.3"),
    "stepped": eq.Space(a=eq.Float(0, 1, step=0.05), b=eq.Float(0, 1), lens=eq.Choice(["in", "out"]), n=eq.Int(0, 6)),
    "context": eq.Space(a=eq.Float(0, 1), b=eq.Float(0, 1), n=eq.Int(0, 6), temp=eq.Context(0, 40)),
}
EXTRA = {"mixed": {}, "stepped": {"lens": "in"}, "context": {"temp": 20}}


def f(x):
    lens = 0.2 * (x.get("lens") == "out")
    top = 0.5 + 0.01 * (x.get("temp", 20) - 20)
    return 3 * np.exp(-4 * (x["a"] - top) ** 2 - 3 * (x["b"] - 0.5) ** 2) - 0.05 * abs(x["n"] - 3) + lens


class Machine:
    """A machine that is tuned by a study, by all that may happen to one, and that watches where it is sent."""

    def __init__(self, name, seed, **options):
        self.space, self.rng = SPACES[name], np.random.default_rng(seed)
        self.start = {"a": 0.2, "b": 0.7, "n": 1} | EXTRA[name]
        self.opt = eq.Optimizer(self.space, start=self.start, rng=seed, **options)
        self.steps = {key: STEP[key] for key in STEP} if "max_step" in options else {}
        self.safe = "drop" in options
        self.at, self.level, self.told = self.start, 0.0, []

    def remember(self, n=12, block="2025"):
        for _ in range(n):
            x = {"a": self.rng.random(), "b": 0.3 * self.rng.random(), "n": int(self.rng.integers(7))}
            x["a"] = round(x["a"] * 20) / 20
            x |= {"lens": "out"} if "lens" in self.start else {}
            x |= {"temp": 10} if "temp" in self.start else {}
            self.opt.add(x, 9 - f(x) + 0.1 * self.rng.normal(), block=block)

    def context(self):
        return {"temp": float(self.rng.choice([10, 20, 30]))} if "temp" in self.start else None

    def ask(self, n=1):
        """Ask for trials, which the machine then dials in one after the other, and watch."""
        allows, careful = feasibility(self.opt._session.state).allows, cautious(self.opt.study.belief, 3 * DROP)
        trials = self.opt.ask(n=n, context=self.context())
        for trial in trials:
            self.watch(trial.x, allows, careful)
        return trials

    def watch(self, x, allows, careful):
        self.must_be_near(self.at, x)
        point = self.space.encode(x)
        assert self.space.valid(point[None]).all()
        here = {"temp": x["temp"]} if "temp" in x else {}
        origin = self.space.encode(self.start | here)
        stayed = all(x[key] == pytest.approx(self.at[key]) for key in STEP)
        assert stayed or allows(point[None])[0]
        if self.safe and not stayed:
            belief = careful.at(np.array([origin, point]))
            low = belief.mean[1] - belief.mean[0] - 3 * np.sqrt(belief.psi(0)[1])
            assert low >= -DROP - 1e-6 or self.retreats(x)
        self.at = x

    def retreats(self, x):
        """Return whether nothing is both safe and near, and the machine comes nearer to the start."""
        return bool(self.steps) and all(
            abs(x[k] - self.start[k]) <= abs(self.at[k] - self.start[k]) + 1e-9 for k in STEP
        )

    def must_be_near(self, before, after):
        for key, step in self.steps.items():
            assert abs(after[key] - before[key]) <= step + 1e-9, (before, after)

    def read(self, trial, x=None):
        at = trial.x if x is None else x
        self.level += 0.1 * self.rng.normal()
        if at["a"] > 0.55 and at["b"] < 0.5:
            self.opt.tell(trial, failed="beam lost")
            return
        if self.told and x is None:
            self.must_be_near(self.told[-1], at)
        self.told.append(at)
        self.opt.tell(trial, f(at) + self.level + 0.02 * self.rng.normal(), x=x)

    def misdial(self):
        """Measure elsewhere than planned: the next setting must be near there."""
        (trial,) = self.ask()
        self.at = trial.x | {"a": round(20 * min(trial.x["a"] + 0.2, 0.6)) / 20, "b": max(trial.x["b"] - 0.1, 0.0)}
        self.read(trial, self.at)

    def several(self):
        trials = self.ask(4)
        for k in self.rng.permutation(4).tolist():  # told in another order
            self.read(trials[k])
        self.at = self.told[-1] if self.told else self.at

    def expire(self):
        (trial,) = self.ask()
        self.opt.study.expire(trial)

    def undo(self):
        self.opt.undo()
        (open_trial,) = self.opt.study.open_trials
        again = next(record for record in self.opt.records() if record.trial == open_trial)
        self.told = self.told[:-1]
        self.read(eq.Trial(again.trial, again.x))

    def move(self):
        """The operator dials in another setting by hand, and says so."""
        self.at = self.at | {"a": 0.3, "n": 2}
        self.opt.study.note("dialed in", x=self.at)
        self.told = []

    def live(self, rounds):
        odd = [self.misdial, self.several, self.expire, self.move]
        for k in range(rounds):
            (trial,) = self.ask()
            self.read(trial)
            if k % 5 == 2:
                odd[k // 5 % len(odd)]()
            if k == 9:
                self.opt.begin_block("tuesday")
            if k == 11 and self.told and not self.opt.study.open_trials and trial.x == self.told[-1]:
                self.undo()


@pytest.mark.parametrize("history", [False, True])
@pytest.mark.parametrize("limits", [{"max_step": STEP}, {"drop": DROP}, {"max_step": STEP, "drop": DROP}])
@pytest.mark.parametrize("name", SPACES)
def test_every_trial_is_within_the_limits_whatever_proposes_it(name, limits, history):
    machine = Machine(name, 0, **limits)
    if history:
        machine.remember()
        machine.remember(3, block=None)
    with warnings.catch_warnings():
        for expected in (eq.DuelGivenUp, DropExceeded, Estranged):
            warnings.simplefilter("ignore", expected)
        machine.live(14)
    assert any(x != machine.start for x in machine.told), "it never moved"


LINE = eq.Space(n=eq.Int(0, 20))
PLANE = eq.Space(a=eq.Float(0, 1), b=eq.Float(0, 1))
CORNER = {"a": 0.1, "b": 0.1}


class Elsewhere:
    """A policy of somebody else, which proposes what it likes."""

    proposal_size, scores, reduction = 2, None, eq.TwoPoint()

    def __call__(self, belief, rng):
        return eq.Proposal.pair([0.98, 0.99], [-0.2, 1.4])


def steps(xs, name):
    return [abs(after[name] - before[name]) for before, after in itertools.pairwise(xs)]


def test_a_whole_number_moves_by_one_if_it_may():
    opt = eq.Optimizer(LINE, start={"n": 4}, max_step={"n": 1}, rng=0)
    asked = [{"n": 4}]
    for _ in range(40):
        trial = opt.ask()
        asked.append(trial.x)
        opt.tell(trial, -0.1 * (trial.x["n"] - 12) ** 2)
    assert max(steps(asked, "n")) == 1
    assert opt.recommend().x["n"] >= 8


def test_what_a_policy_proposes_outside_is_replaced():
    opt = eq.Optimizer(
        PLANE, policy=Elsewhere(), kernel=eq.RBF(0.3), design=0, start=CORNER, max_step={"a": 0.2}, rng=0
    )
    points = np.array([[trial.x["a"], trial.x["b"]] for trial in opt.ask(n=12)])
    assert ((points >= 0) & (points <= 1)).all()
    assert np.abs(np.diff(points[:, 0])).max() <= 0.2 + 1e-9
    held = eq.Space(a=eq.Float(0, 1), b=eq.Float(0, 1), constraint="a + b <= 0.5")
    free = eq.Optimizer(held, policy=Elsewhere(), kernel=eq.RBF(0.3), rng=0)
    assert all(trial.x["a"] + trial.x["b"] <= 0.5 + 1e-9 for trial in free.ask(n=4))


def test_open_trials_may_be_measured_in_any_order():
    opt = eq.Optimizer(PLANE, start=CORNER, max_step={"a": 0.1, "b": 0.1}, rng=1)
    trials = [*opt.ask(n=5), *(opt.ask(worker="w") for _ in range(3))]
    for one, other in itertools.combinations([eq.Trial(99, CORNER), *trials], 2):
        assert max(abs(one.x[k] - other.x[k]) for k in "ab") <= 0.1 + 1e-9


def test_open_trials_make_nothing_safe():
    """What was asked for and not read yet says nothing of how good it is."""
    opt = eq.Optimizer(PLANE, start={"a": 0.5, "b": 0.5}, drop=0.3, rng=2)
    trials = opt.ask(n=16)
    known = cautious(opt.study.belief, 0.9).at(np.array([[0.5, 0.5], *([t.x["a"], t.x["b"]] for t in trials)]))
    assert (known.mean - known.mean[0] - 3 * np.sqrt(known.psi(0)) >= -0.3 - 1e-9).all()


def test_earlier_readings_do_not_move_the_machine():
    opt = eq.Optimizer(PLANE, start=CORNER, max_step={"a": 0.1, "b": 0.1}, rng=3)
    for k in range(12):
        opt.add({"a": 0.9, "b": 0.05 * k}, 3.0 - 0.1 * k, block="2025")
    asked = [CORNER]
    for k in range(6):
        trial = opt.ask()
        asked.append(trial.x)
        opt.tell(trial, trial.x["a"])
        opt.add({"a": 0.8, "b": 0.8}, 0.3 * k, block="2025")  # a table that is typed in on the side
    assert max(*steps(asked, "a"), *steps(asked, "b")) <= 0.1 + 1e-9


def test_pairs_to_be_judged_are_within_the_limits():
    limits = {"start": CORNER, "max_step": {"a": 0.1, "b": 0.1}, "drop": 2.0}
    opt = eq.Optimizer(PLANE, **limits, rng=4)
    shown = [CORNER]
    for k in range(12):
        pair = opt.ask_pair()
        shown += [pair.first, pair.second]
        assert pair.first != pair.second
        opt.tell(pair, "first" if pair.first["a"] > pair.second["a"] else "second")
        if k % 3 == 2:
            trial = opt.ask()
            shown.append(trial.x)
            opt.tell(trial, 3 * trial.x["a"])
    assert max(*steps(shown, "a"), *steps(shown, "b")) <= 0.1 + 1e-9
    far = eq.Optimizer(PLANE, start=CORNER, max_step={"a": 0.05}, rng=5)
    pair = far.ask_pair()
    far.tell(pair, "first")
    far.study.note("dialed in", x={"a": 0.9, "b": 0.9})
    with pytest.raises(RuntimeError, match="`again` must be a pair within `drop` and `max_step`"):
        far.ask_pair(again=pair)


def test_a_half_that_waits_is_moved_to_where_it_may_be_measured():
    opt = eq.Optimizer(PLANE, start=CORNER, max_step={"a": 0.1, "b": 0.1}, rng=6)
    trial = opt.ask()
    opt.tell(trial, 1.0, x={"a": 0.6, "b": 0.6})
    half = opt.ask()
    assert half.id == 1
    assert max(abs(half.x["a"] - 0.6), abs(half.x["b"] - 0.6)) <= 0.1 + 1e-9
    opt.tell(half, 1.1)
    opt.study.note("dialed in", x={"a": 0.9, "b": 0.9})
    assert max(abs(opt.ask().x[k] - 0.9) for k in "ab") <= 0.1 + 1e-9


def test_an_audit_and_a_verification_keep_away_from_what_fails():
    opt = eq.Optimizer(PLANE, start={"a": 0.3, "b": 0.3}, rng=7)

    def measure(n):
        asked = []
        for _ in range(n):
            allows = feasibility(opt._session.state).allows
            trial = opt.ask()
            point = opt.space.encode(trial.x)[None]
            asked.append(bool(allows(point)[0]))
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", eq.DuelGivenUp)
                lost = trial.x["a"] > 0.6
                opt.tell(trial, **({"failed": "lost"} if lost else {"value": trial.x["a"] - trial.x["b"]}))
        return asked

    measure(30)
    opt.audit(6)
    assert all(measure(12))
    if opt.study.plan is not None:
        opt.cancel()
    opt.verify(4)
    assert all(measure(8))


def test_a_resumed_study_stands_where_it_stood(tmp_path):
    path = tmp_path / "study.jsonl"
    opt = eq.Optimizer(PLANE, start=CORNER, max_step={"a": 0.1, "b": 0.1}, log=path, rng=8)
    for k in range(5):
        trial = opt.ask()
        opt.tell(trial, trial.x["a"], x=trial.x | {"a": 0.5} if k == 3 else None)
    opt.ask()
    again = eq.resume(path)
    assert again.study.propose().points.tobytes() == opt.study.propose().points.tobytes()


def test_nothing_passes_the_gate_by():
    """Events by which a setting is handed out are made at the gate; else only where a log is read."""
    made = {"Asked", "Handed"}
    allowed = {"study/asking/gate.py", "log/codec.py", "study/amending.py: _judged"}
    for path in (*SOURCES.glob("*.py"), *SOURCES.glob("[!et]*/**/*.py")):
        name, text = path.relative_to(SOURCES).as_posix(), path.read_text(encoding="utf-8")
        for function in ast.walk(ast.parse(text)) if any(f"{event}(" in text for event in made) else ():
            if isinstance(function, ast.FunctionDef):
                calls = [node.func for node in ast.walk(function) if isinstance(node, ast.Call)]
                found = {call.id for call in calls if isinstance(call, ast.Name)} & made
                assert not found or name in allowed or f"{name}: {function.name}" in allowed, (name, function.name)
