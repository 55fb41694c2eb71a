"""A range is widened while a study runs: an event, after which all data are learned in the wider space."""

import pickle

import numpy as np
import pytest

import equipoise as eq
from equipoise.cli.verifying import verified
from equipoise.log import MemoryLog
from equipoise.study import Setting
from invoking import invoke
from studies import events, state

SPACE = eq.Space(
    q1=eq.Float(-1, 1, unit="A"),
    n=eq.Int(0, 4),
    rate=eq.Float(1e-3, 1e-1, log=True),
    gap=eq.Float(0, 1, step=0.25),
    filter=eq.Choice(["open", "thin"]),
)
START = {"q1": 0.3, "n": 1, "rate": 0.01, "gap": 0.25, "filter": "open"}


def value_at(x):
    return -((x["q1"] - 1.8) ** 2) + 0.1 * x["n"]


def measured(opt, readings, context=None):
    rng = np.random.default_rng(opt.readings)
    for _ in range(readings):
        trial = opt.ask(context=context)
        opt.tell(trial, value_at(trial.x) + 0.1 * trial.id + 0.05 * rng.normal())


def begun(path=None, space=SPACE, **parts):
    return eq.Optimizer(space, log=path, rng=0, **parts)


def claims(opt):
    best = opt.recommend()
    return best.x, best.gap_bound, best.kind, opt.readings


@pytest.fixture
def log(tmp_path):
    return tmp_path / "study.jsonl"


def test_the_best_beyond_the_former_range_is_found_and_claims_are_about_the_wider_one(log):
    opt = begun(log, eq.Space(q1=eq.Float(-1, 1), n=eq.Int(0, 4)))
    measured(opt, 30)
    before = opt.recommend()
    assert before.x["q1"] == 1.0
    opt.study.set("q1", (-1, 3), "the best was at the limit")
    assert opt.space.parameters["q1"] == eq.Float(-1, 3)
    assert opt.recommend().gap_bound > before.gap_bound  # nothing is known out there
    measured(opt, 30)
    assert opt.recommend().x["q1"] == pytest.approx(1.8, abs=0.3)
    assert opt.study.settings == [Setting("range of q1", "-1 to 3", "the best was at the limit")]


def test_everything_that_was_said_of_a_point_still_is(log):
    opt = begun(log, start=START, max_step={"q1": 0.5}, drop=5.0)
    measured(opt, 12)
    opt.study.note("dialed in", x=START)
    pair, trial = opt.ask_pair(judge="anna"), opt.ask()
    before = opt.records()
    a, b = START, START | {"q1": 0.9}
    known = opt.compare(a, b).value
    for name, ends in {"q1": (-3, 2), "n": (-2, 9), "rate": (1e-4, 0.1), "gap": (-1, 2)}.items():
        opt.study.set(name, ends)
    assert [each.x for each in opt.records()] == [pytest.approx(each.x) for each in before]
    assert opt.study.notes[0].x == pytest.approx(START)
    assert opt.study.position() == pytest.approx(START)
    assert opt.study.setup.caution.max_step[0] == pytest.approx(0.1)
    assert opt.compare(a, b).value == pytest.approx(known, abs=0.5)  # of about 1.4
    opt.tell(trial, 0.5)
    opt.tell(pair, "first")
    assert [record.trial for record in opt.records() if record.trial == trial.id]


def test_a_log_is_taken_up_to_the_last_bit_by_all_who_share_it(log):
    opt = begun(log, start=START)
    measured(opt, 12)
    other, plan = eq.resume(log), opt.audit(2)
    opt.study.set("q1", (-1, 3))
    assert opt.study.plan == plan
    measured(opt, 4)
    assert opt.study.plan is None  # it is over
    opt.study.set("n", (0, 8))
    opt.study.set("q1", (-2, 3))
    measured(opt, 4)
    measured(other, 2)
    again = eq.resume(log)
    opt.study.follow()
    assert state(again) == state(other) == state(opt) == state(pickle.loads(pickle.dumps(opt)))
    assert verified(log).holds
    last = [event for event in events(log) if "set" in event][-1]
    assert (last["set"], last["value"]) == ("q1", [-2.0, 3.0])


def test_what_was_told_before_is_corrected_and_undone_after(log):
    opt = begun(log)
    measured(opt, 12)
    opt.study.set("q1", (-1, 3))
    before = claims(opt)
    opt.correct(3, 9.0)
    assert claims(eq.resume(log)) == claims(opt) != before
    opt.undo()
    assert claims(opt) == before
    opt.undo()
    assert opt.study.open_trials == (11,)
    assert opt.space.parameters["q1"].high == 3.0  # a range is no step


def test_an_interrupt_in_the_middle_of_a_change_loses_no_range(log):
    opt = begun(log)
    measured(opt, 8)
    opt.study.set("q1", (-1, 2))
    opt.study.set("q1", (-1, 3))
    before = claims(opt)
    opt._session.state.whole = False
    opt.study.note("after it")
    assert opt._session.state.whole
    assert claims(opt) == claims(eq.resume(log)) == before


def test_a_context_and_a_journal_in_memory():
    space = eq.Space(q1=eq.Float(-1, 1), temp=eq.Context(0, 30, unit="C"))
    journal = MemoryLog(space)
    opt = begun(journal, space)
    rng = np.random.default_rng(0)
    for _ in range(6):
        trial = opt.ask(context={"temp": 20})
        opt.tell(trial, trial.x["q1"] + rng.normal())
    opt.study.set("temp", (0, 50))
    assert opt.ask(context={"temp": 40}).x["temp"] == 40.0
    again = begun(MemoryLog(space, journal.events), space)
    assert (again.space.parameters, again.study.open_trials) == (opt.space.parameters, (6,))


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("q1", (-0.5, 1), r"`value` must reach beyond the range of q1, got -0.5 to 1"),
        ("q1", (-1, float("inf")), r"`value` must be finite, got inf"),
        ("q1", (-1, 1, 2), r"`value` must be a text, or the two ends of a range, got \(-1, 1, 2\)"),
        ("q1", "-1 to 3", r"`name` must be mode or unit, or `value` the ends of a range, got 'q1'"),
        ("filter", (0, 1), "`name` must be that of a number of the space, got 'filter'"),
        ("n", (0, 4.5), "`high` must be a whole number, got 4.5"),
        ("rate", (-1, 1), "`low` must be positive if `log` is true, got -1.0"),
        ("gap", (-0.1, 1), "must be -0.1 plus a whole number of steps of 0.25"),
    ],
)
def test_what_is_no_wider_range_is_refused_and_nothing_is_written(log, name, value, message):
    opt, lines = begun(log), len(log.read_text().splitlines())
    with pytest.raises((ValueError, TypeError), match=message):
        opt.study.set(name, value)
    assert (opt.space.to_dict(), len(log.read_text().splitlines())) == (SPACE.to_dict(), lines)


def test_a_given_kernel_is_about_the_range_as_it_is(log):
    opt = begun(log, kernel=eq.RBF(0.5))
    with pytest.raises(ValueError, match="a range can be widened if the model is learned"):
        opt.study.set("q1", (-2, 2))
    with pytest.raises(ValueError, match="`space` must have parameters with names"):
        eq.Optimizer(eq.Box([(0, 1)]), rng=0).study.set("q1", (0, 2))


def test_by_the_shell(log):
    begun(log)
    assert "Set: q1 is -4:1." in invoke("set", log, "q1", "-4:1", "more", "room").output
    assert "q1: -4 to 1 (more room)" in invoke("replay", log, "--verify").output
    assert "q1=Float(-4.0, 1.0, unit='A')" in invoke("status", log).output
    for words in (("q1", "wide"), ("q1", -3, 3)):
        assert "`value` must be a range LOW:HIGH, such as -4:2" in invoke("set", log, *words, code=1).output


def test_a_worker_who_comes_late_is_proposed_the_same_again(log):
    """With `max_step` it matters where the machine of the worker stands."""
    opt = begun(log, eq.Space(q1=eq.Float(-1, 1), n=eq.Int(0, 4)), start={"q1": 0.5, "n": 0}, max_step={"q1": 0.25})
    measured(opt, 10)
    opt.study.set("q1", (-1, 2))
    measured(opt, 8)
    for k in range(10):
        trial = opt.ask(worker="w1")
        opt.tell(trial, 0.1 * (k % 7))
    assert verified(log).holds


def test_a_range_in_which_the_constraint_leaves_nothing_is_refused(log):
    space = eq.Space(q1=eq.Float(1.5, 1.500001), q2=eq.Float(0, 1), constraint="q1 <= 1.5000006")
    opt = eq.Optimizer(space, log=log, rng=0)
    opt.tell(opt.ask(), 0.5)
    with pytest.raises(RuntimeError, match="`constraint` must leave something to measure"):
        opt.study.set("q1", (1.5, 2.5))
    assert opt.space is space
    assert opt.ask().id == 1
    assert eq.resume(log).space.to_dict() == space.to_dict()
