"""The log keeps the fits: a resumed study equals the original and fits nothing again."""

import copy
import warnings

import numpy as np
import pytest

import equipoise as eq
from equipoise.belief import refitting
from equipoise.log import jsonl as lines
from equipoise.log.events import unfitted
from equipoise.study.lessons import Comparisons
from invoking import invoke
from studies import events, state

SPACE = eq.Space(q1=eq.Float(-2, 2), q2=eq.Float(-1, 1))
STUDIES = {
    "default": {},
    "minimized": {"minimize": True},
    "duels": {"offset": eq.Arbitrary()},
    "blocks": {"offset": eq.Blocks(5)},
    "single readings": {"policy": eq.UCB()},
    "forecast": {"policy": eq.IDS(), "reduction": eq.OnePoint(eq.BestForecaster())},
}


TRACKED = {"type": "Tracked", "guard": 3.0}
HEAT = {"type": "Covariate", "name": "heat", "center": 0.0, "scale": 0.0}


def read(opt, readings, spoiled=(), size=300.0):
    rng = np.random.default_rng(opt.readings)
    for _ in range(readings):
        trial = opt.ask()
        x = np.array(list(trial.x.values()))
        value = -float((x - 0.3) @ (x - 0.3)) + 0.05 * trial.id + 0.1 * float(rng.standard_normal())
        opt.tell(trial, value + size * (trial.id in spoiled))
    return opt


@pytest.fixture
def path(tmp_path):
    return tmp_path / "study.jsonl"


@pytest.fixture(scope="module")
def twelve(tmp_path_factory):
    """The log of twelve readings."""
    path = tmp_path_factory.mktemp("twelve") / "study.jsonl"
    read(eq.Optimizer(SPACE, log=path, rng=0), 12)
    return path.read_bytes()


@pytest.fixture
def no_fits(monkeypatch):
    """After this is called, a fit fails."""

    def fail(*arguments):
        raise AssertionError("fitted again")

    return lambda: monkeypatch.setattr(refitting, "fit", fail)


@pytest.mark.parametrize("parts", STUDIES.values(), ids=STUDIES)
def test_a_study_that_is_taken_up_fits_nothing_and_is_the_one_that_was_left(path, no_fits, parts):
    opt = read(eq.Optimizer(SPACE, log=path, rng=0, **parts), 21)
    seen = state(opt)
    assert sum("fit" in event for event in events(path)) >= 3
    no_fits()
    assert state(eq.resume(path)) == seen


@pytest.mark.parametrize("spoiled", [{0}, {0, 9}, {9}])
def test_also_where_readings_are_spoiled_the_first_among_them(path, no_fits, spoiled):
    opt = read(eq.Optimizer(SPACE, log=path, rng=0), 22, spoiled)
    assert {time for time, _ in opt.study.belief.learned.blips} == {float(i + 1) for i in spoiled}
    seen = state(opt)
    no_fits()
    assert state(eq.resume(path)) == seen


def test_also_where_blocks_covariates_and_earlier_campaigns_were_told(path, no_fits):
    opt, rng = eq.Optimizer(SPACE, log=path, rng=0), np.random.default_rng(0)
    for value in rng.uniform(-1, 1, (6, 2)).tolist():
        opt.add(dict(zip(("q1", "q2"), value, strict=True)), 3.0 - value[0] ** 2, block="2025")
    for t in range(16):
        trial, heat = opt.ask(), float(rng.uniform())
        value = -(trial.x["q1"] ** 2) + heat + 0.1 * float(rng.standard_normal())
        opt.tell(trial, value, block=f"day {t // 8}", **({"covariates": {"heat": heat}} if t > 4 else {}))
    fits = [event for event in events(path) if "fit" in event]
    assert fits[-1]["fit"]["accounts"]["covariates"][0]["name"] == "heat"
    assert any("add" in event for event in fits)
    seen = state(opt)
    no_fits()
    assert state(eq.resume(path)) == seen


CHANGES = {
    "correct": lambda opt: opt.correct(3, 0.5),
    "retract": lambda opt: opt.retract(3),
    "undo": lambda opt: opt.undo(),
    "fail": lambda opt: opt.tell(opt.ask(), failed="shutter closed"),
    "absurd": lambda opt: opt.tell(opt.ask(), 9.9e37),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_also_after_the_past_was_changed(path, no_fits, change):
    opt = read(eq.Optimizer(SPACE, log=path, rng=0), 18)
    with warnings.catch_warnings():
        for expected in (eq.DuelGivenUp, eq.study.SetAside):
            warnings.simplefilter("ignore", expected)
        change(opt)
        read(opt, 3)
        seen = state(opt)
        no_fits()
        assert state(eq.resume(path)) == seen


def test_a_study_whose_log_has_no_fits_fits_anew_and_is_the_same():
    journal = eq.log.MemoryLog(SPACE)
    opt = read(eq.Optimizer(SPACE, log=journal, rng=0), 18)
    opt.correct(2, 0.1)
    former = [{name: value for name, value in event.items() if name != "fit"} for event in journal.events]
    assert former != journal.events
    assert state(eq.Optimizer(SPACE, log=eq.log.MemoryLog(SPACE, former), rng=0)) == state(opt)


def test_what_was_believed_in_the_past_is_what_was_believed_then(path, no_fits):
    opt, said = eq.Optimizer(SPACE, log=path, rng=0), []
    for _ in range(20):
        read(opt, 1)
        said.append(repr(opt.recommend()))
    no_fits()
    assert [repr(best) for best in eq.resume(path).study.history(range(1, 21))] == said


def test_who_looks_at_trials_computes_nothing(path, monkeypatch):
    read(eq.Optimizer(SPACE, log=path, rng=0), 15).ask()
    monkeypatch.setattr(Comparisons, "_learned", None)
    monkeypatch.setattr(Comparisons, "_at", None)
    assert len(invoke("export", path, "--json").data) == 16
    opt = eq.resume(path)
    assert (opt.readings, len(opt.records(aside=False)), len(opt.study.open_trials), opt.study.plan) == (
        15,
        16,
        1,
        None,
    )


def rewritten(path, change):
    """Change the last fit of a log whose checksums are right all the same; return its line."""
    contents = events(path)
    line = max(i for i, event in enumerate(contents) if "fit" in event)
    change(contents[line])
    place, data = lines.Place(), b""
    for content in contents:
        sealed, place = lines.sealed({k: v for k, v in content.items() if k != "crc"}, place)
        data += sealed
    path.write_bytes(data)
    return line + 1


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"lessons": 3}, "its fit must be after lesson"),
        ({"lessons": 10**6}, "its fit must be after lesson"),
        ({"lessons": "6"}, "`lessons` must be an integer"),
        ({"lengthscales": [0.2]}, "its fit must have 2 lengthscales and 8 numbers in all"),
        ({"lengthscales": [0.2] * 3}, "its fit must have 2 lengthscales"),
        ({"lengthscales": [0.2, -1.0]}, "`lengthscales` must be positive"),
        ({"lengthscales": [0.2, 1e-9]}, "`lengthscale` of its fit must be from 0.02 to 20"),
        ({"lengthscales": 0.2}, "`lengthscales` must be a list"),
        ({"offset": []}, "numbers in all"),
        ({"noise": 0.0}, "`noise` must be positive"),
        ({"noise": 1e300}, "`noise` of its fit must be from"),
        ({"variance": 1e300}, "its fit must have numbers below 1e"),
        ({"variance": True}, "`variance` must be a real number"),
        ({"step": 1e-200}, "a step above 0"),
        ({"step": 1e200}, "its fit must have numbers below 1e"),
        ({"origin": None}, "`origin` must be a real number"),
        ({"jumps": [[3.0, -1.0]]}, "`jumps` must be positive"),
        ({"jumps": [[3.0]]}, "`jumps` must be a list of pairs"),
        ({"blips": [[3.0, 1e300]]}, "its fit must have numbers below 1e"),
        ({"accounts": {"type": "Tracked", "guard": 3.0}}, "`accounts` must be what a law accounts for"),
        ({"accounts": {"type": "Accounts", "blocks": True}}, "and 10 numbers in all"),
        ({"accounts": {"type": "Accounts", "covariates": ["heat"]}}, "must have a center and a scale"),
        ({"accounts": {"type": "Accounts", "covariates": [HEAT]}}, "must have a center and a scale"),
        ({"accounts": "Tracked"}, "`accounts` must be what a law accounts for"),
        ({"estranged": "2025"}, "`estranged` must be a list"),
        ({"estranged": [2025]}, "`estranged` must be a name"),
    ],
)
def test_a_fit_that_makes_no_sense_is_refused(path, twelve, change, message):
    path.write_bytes(twelve)
    line = rewritten(path, lambda event: event["fit"].update(change))
    with pytest.raises(eq.LogError, match=rf"study.jsonl, line {line} is damaged: .*{message}"):
        eq.resume(path)


@pytest.mark.parametrize("fit", [None, 3, [], {}, "fitted"])
def test_what_is_no_fit_is_refused(path, twelve, fit):
    path.write_bytes(twelve)
    line = rewritten(path, lambda event: event.update(fit=fit))
    with pytest.raises(eq.LogError, match=f"line {line} is damaged"):
        eq.resume(path)


def test_a_belief_that_fits_nothing_takes_no_fit(path, twelve):
    path.write_bytes(twelve)
    fit = next(event["fit"] for event in events(path) if "fit" in event)
    journal = eq.log.MemoryLog(SPACE)
    read(eq.Optimizer(SPACE, kernel=eq.RBF(0.5), log=journal, rng=0), 4)
    last = journal.events[-1] | {"fit": fit | {"lessons": 2}}
    with pytest.raises(ValueError, match="there must be no fit: the model was given"):
        eq.Optimizer(SPACE, kernel=eq.RBF(0.5), log=eq.log.MemoryLog(SPACE, [*journal.events[:-1], last]), rng=0)


def test_jumps_are_no_part_of_a_law_without(path):
    read(eq.Optimizer(SPACE, offset=eq.Arbitrary(), log=path, rng=0), 14)
    rewritten(path, lambda event: event["fit"].update(jumps=[[3.0, 1.0]]))
    with pytest.raises(eq.LogError, match="its fit must have no jumps"):
        eq.resume(path)


def test_the_proof_of_a_log_believes_no_fit(path):
    read(eq.Optimizer(SPACE, log=path, rng=0), 18)
    assert invoke("replay", path, "--verify", "--json").data["different"] == []
    opt = eq.resume(path)
    rewritten(path, lambda event: event["fit"].update(lengthscales=[0.05, 19.0]))
    other = eq.resume(path)  # it is what the log says
    assert other.study.belief.learned.fitted != opt.study.belief.learned.fitted
    read(other, 4)  # and goes on by it
    assert invoke("replay", path, "--verify", "--json", code=1).data["different"]


def test_an_event_can_be_had_without_its_fit():
    journal = eq.log.MemoryLog(SPACE)
    read(eq.Optimizer(SPACE, log=journal, rng=0), 8)
    told = [journal._codec.from_json(event) for event in journal.events if "fit" in event]
    assert told
    assert all(event.fit is not None and unfitted(event).fit is None for event in told)
    assert all(unfitted(event).answer is event.answer for event in told)


def test_copies_learn_by_themselves():
    opt = read(eq.Optimizer(SPACE, rng=0), 9)
    twin = copy.deepcopy(opt)
    read(opt, 6)
    assert state(read(twin, 6)) == state(opt)
