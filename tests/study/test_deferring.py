"""A due fit may be deferred: `tell` does not wait for it, and a resumed study equals the original."""

import copy
import pickle
import threading

import numpy as np
import pytest

import equipoise as eq
from equipoise.belief import refitting
from equipoise.study.lessons import Overdue
from invoking import invoke
from studies import events, rewrite, state

SPACE = eq.Space(q1=eq.Float(-2, 2), q2=eq.Float(-1, 1))
STUDIES = {
    "default": {},
    "duels": {"offset": eq.Arbitrary()},
    "single readings": {"policy": eq.UCB()},
    "forecast": {"policy": eq.IDS(), "reduction": eq.OnePoint(eq.BestForecaster())},
}


def read(opt, readings, refit=False):
    rng = np.random.default_rng(opt.readings)
    for _ in range(readings):
        trial = opt.ask()
        x = np.array(list(trial.x.values()))
        value = -float((x - 0.3) @ (x - 0.3)) + 0.05 * trial.id + 0.1 * float(rng.standard_normal())
        opt.tell(trial, value, refit=refit)
    return opt


@pytest.fixture
def path(tmp_path):
    return tmp_path / "study.jsonl"


def belief(opt):
    """What is believed, to the last bit."""
    at = opt.posterior.at(np.random.default_rng(0).uniform(size=(20, 2)))
    return at.mean.tobytes(), at.variance.tobytes(), repr(opt.study.belief.learned.fitted)


def kinds(path):
    """What each line of a log is of, and of a reading whether its fit was deferred."""
    return [("deferred" if line.get("deferred") else next(iter(line))) for line in events(path)[1:]]


def test_telling_does_not_fit(path, monkeypatch):
    opt = eq.Optimizer(SPACE, log=path, rng=0)
    monkeypatch.setattr(refitting, "fit", lambda *arguments: pytest.fail("fitted"))
    read(opt, 12)
    opt.recommend()
    assert "deferred" in kinds(path)


@pytest.mark.parametrize("parts", STUDIES.values(), ids=STUDIES)
def test_a_study_that_is_taken_up_is_the_one_left(path, parts):
    opt, rng = eq.Optimizer(SPACE, log=path, rng=0, **parts), np.random.default_rng(1)
    for _ in range(7):
        read(opt, int(rng.integers(1, 4)))
        assert belief(eq.resume(path)) == belief(opt)
        if rng.random() < 0.6 and opt.study.refit():
            assert belief(eq.resume(path)) == belief(opt)
    assert state(eq.resume(path)) == state(opt)
    assert {"deferred", "refit"} <= set(kinds(path))


def test_readings_may_be_told_while_it_fits(path, monkeypatch):
    opt = read(eq.Optimizer(SPACE, log=path, rng=0), 6)
    real = Overdue.made
    monkeypatch.setattr(Overdue, "made", lambda due: (read(opt, 3), real(due))[1])
    assert opt.study.refit()
    monkeypatch.undo()
    assert kinds(path)[-1] == "refit"
    assert events(path)[-1]["refit"] == 9  # as after six readings, of which three have completed a pair
    assert state(eq.resume(path)) == state(opt)


def test_the_fit_is_that_of_its_lessons(path):
    eager, patient = eq.Optimizer(SPACE, rng=0), eq.Optimizer(SPACE, rng=0)
    read(eager, 6, refit=True)
    read(patient, 6)
    assert patient.study.belief.learned.fitted != eager.study.belief.learned.fitted
    assert patient.study.refit()
    assert state(patient) == state(eager)
    assert not patient.study.refit()


def test_a_reading_told_without_deferring_makes_the_fit(path):
    opt = read(eq.Optimizer(SPACE, log=path, rng=0), 6)
    read(opt, 1, refit=True)
    assert "fit" in events(path)[-1]
    assert not opt.study.refit()
    assert state(eq.resume(path)) == state(opt)


@pytest.mark.parametrize(
    "change", [lambda opt: opt.correct(1, 0.2), lambda opt: opt.retract(1), lambda opt: opt.undo()]
)
def test_a_fit_to_what_has_changed_is_dropped(path, monkeypatch, change):
    opt = read(eq.Optimizer(SPACE, log=path, rng=0), 6)
    real = Overdue.made
    monkeypatch.setattr(Overdue, "made", lambda due: (change(opt), real(due))[1])
    opt.study.refit()
    monkeypatch.undo()
    assert "refit" not in kinds(path)
    assert state(eq.resume(path)) == state(opt)


@pytest.mark.parametrize("change", [lambda opt: opt.correct(3, 0.2), lambda opt: opt.retract(3)])
def test_what_is_corrected_afterwards_is_fitted_anew(path, change):
    opt = read(eq.Optimizer(SPACE, log=path, rng=0), 8)
    opt.study.refit()
    read(opt, 5)
    change(opt)
    assert state(eq.resume(path)) == state(opt)
    read(opt, 3)
    opt.study.refit()
    assert state(eq.resume(path)) == state(opt)


def test_a_reading_that_cannot_be_sets_all_right(path):
    opt = read(eq.Optimizer(SPACE, log=path, rng=0), 8)
    opt.study.refit()
    with pytest.warns(eq.study.SetAside):
        opt.tell(opt.ask(), 1e300, refit=False)
    assert state(eq.resume(path)) == state(opt)


def test_another_process_follows(path):
    opt = eq.Optimizer(SPACE, log=path, rng=0)
    other = eq.resume(path)
    for _ in range(4):
        read(opt, 3)
        opt.study.refit()
        other.study.follow()
        assert belief(other) == belief(opt)
    read(opt, 3)
    other.study.refit()
    opt.study.follow()
    assert state(other) == state(opt)


def test_two_processes_may_fit_the_same(path, monkeypatch):
    opt = read(eq.Optimizer(SPACE, log=path, rng=0), 6)
    other, real = eq.resume(path), Overdue.made
    monkeypatch.setattr(Overdue, "made", lambda due: (monkeypatch.undo(), other.study.refit(), real(due))[2])
    opt.study.refit()
    assert kinds(path).count("refit") == 1
    assert state(eq.resume(path)) == state(opt) == state(other)


def test_judgements_beside(path):
    opt = eq.Optimizer(SPACE, log=path, rng=0)
    for _ in range(4):
        read(opt, 3)
        opt.tell(opt.ask_pair(), "first")
        opt.study.refit()
        opt.tell(opt.ask_pair(), "second")
        assert belief(eq.resume(path)) == belief(opt)


def test_it_is_proven_like_any_other(path):
    opt = eq.Optimizer(SPACE, log=path, rng=0)
    for readings in (7, 2, 5, 4):
        read(opt, readings)
        opt.study.refit()
    assert "Proposals that come out differently: none" in invoke("replay", path, "--verify").stdout
    assert "refit" in invoke("replay", path).stdout


def test_copies_know_what_is_deferred():
    opt = read(eq.Optimizer(SPACE, rng=0), 7)
    for other in (copy.deepcopy(opt), pickle.loads(pickle.dumps(opt))):
        assert state(other) == state(opt)
        assert other.study.refit()
    assert opt.study.refit()


def test_an_interrupt_while_it_fits_changes_nothing(path, monkeypatch):
    def interrupted(*arguments):
        raise KeyboardInterrupt

    opt = read(eq.Optimizer(SPACE, log=path, rng=0), 6)
    before = state(opt)
    monkeypatch.setattr(refitting, "fit", interrupted)
    with pytest.raises(KeyboardInterrupt):
        opt.study.refit()
    monkeypatch.undo()
    assert state(opt) == before
    assert opt.study.refit()


def test_nothing_is_deferred_by_default(path):
    read(eq.Optimizer(SPACE, log=path, rng=0), 8, refit=True)
    assert set(kinds(path)) == {"ask", "hand", "tell"}
    assert not eq.resume(path).study.refit()


def test_a_study_that_fits_nothing_has_nothing_to_make():
    opt = eq.Optimizer(eq.Finite([[0.0], [1.0]]), kernel=eq.RBF(0.5), policy=eq.IDS(), rng=0)
    opt.tell(opt.ask(), 0.5, refit=False)
    assert not opt.study.refit()


@pytest.mark.parametrize(("lessons", "word"), [(99, "lesson"), (0, "lesson"), (-1, "refit"), (1.5, "refit")])
def test_a_log_that_says_nonsense_of_a_fit_is_refused(path, lessons, word):
    opt = read(eq.Optimizer(SPACE, log=path, rng=0), 6)
    opt.study.refit()
    contents = events(path)
    contents[-1]["refit"] = lessons
    rewrite(path, contents)
    with pytest.raises(eq.LogError, match=word):
        eq.resume(path).recommend()


def test_threads_ask_and_tell_while_another_fits(path):
    opt, ending = eq.Optimizer(SPACE, log=path, rng=0), threading.Event()

    def fit():
        while not ending.is_set():
            opt.study.refit()

    thread = threading.Thread(target=fit)
    thread.start()
    read(opt, 25)
    ending.set()
    thread.join()
    assert state(eq.resume(path)) == state(opt)
