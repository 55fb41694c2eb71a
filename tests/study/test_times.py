"""Each event keeps its time: in memory, in a log, and after the study is resumed."""

import copy
import itertools

import equipoise as eq
from invoking import invoke
from studies import events, rewrite

SPACE = eq.Space(q1=eq.Float(0, 1))


def clock():
    """Return a clock that goes on by a second each time somebody looks."""
    seconds = itertools.count()
    return lambda: f"2026-11-16T02:40:{next(seconds):02}.000Z"


def times(opt):
    """Return when each trial, pair and note was asked for, ended and written, as the last two digits of its seconds."""
    said = [*opt.records(), *opt.records(judgements=True)]
    short = [[at and at[17:19] for at in (each.asked, each.ended)] for each in said]
    return short, [note.at and note.at[17:19] for note in opt.study.notes]


def told(**parts):
    """Return a study to which a clock gives the times 0, 1, 2 and so on."""
    opt = eq.Optimizer(SPACE, rng=0, **parts)
    opt._session.clock = clock()
    opt.tell(opt.ask(), 0.5)  # 0, 1
    opt.study.note("shift")  # 2
    first, second = opt.ask(n=2)  # 3, 4
    opt.tell(second, 0.2)  # 5
    opt.add({"q1": 0.5}, 0.75)  # 6
    pair = opt.ask_pair()  # 7
    opt.tell(pair, "first")  # 8
    opt.study.expire(first)  # 9
    return opt, first


EXPECTED = [["00", "01"], ["04", "05"], ["06", "06"], ["07", "08"]]


def test_a_study_in_memory_knows_when_things_happened():
    opt, first = told()
    assert times(opt) == (EXPECTED, ["02"])
    assert opt.ask().id == first.id  # 10
    assert times(opt)[0][3] == ["10", None]
    opt.correct(0, 0.6)  # what is corrected was told when it was told
    opt.retract(2)
    assert times(opt)[0][:2] == [["00", "01"], ["06", "06"]]
    assert [record.asked[17:19] for record in opt.records(trials=[2])] == ["04"]
    assert [record.ended for record in opt.records(trials=[2])] == [None]


def test_a_journal_keeps_the_times_and_hands_them_back(tmp_path):
    journal = eq.log.MemoryLog(SPACE)
    told(log=journal)
    assert [event["at"][17:19] for event in journal.events] == [f"{second:02}" for second in range(10)]
    again = eq.Optimizer(SPACE, log=eq.log.MemoryLog(SPACE, journal.events), rng=0)
    told(log=tmp_path / "study.jsonl")
    assert times(again) == times(eq.resume(tmp_path / "study.jsonl")) == (EXPECTED, ["02"])


def test_a_log_without_times_is_read_all_the_same(tmp_path):
    path = tmp_path / "study.jsonl"
    opt, _ = told(log=path)
    opt.ask()
    header, *rest = events(path)
    for wrong in ({}, {"at": 3}, {"at": "nonsense"}, {"at": "2026-11-16T02:40:11"}):
        rewrite(path, [header, *({k: v for k, v in line.items() if k != "at"} | wrong for line in rest)])
        assert times(eq.resume(path)) == ([[None, None]] * 5, [None])
        assert f"trial {opt.study.open_trials[0]}: q1 =" in invoke("status", path).output
        assert "-  ask        0" in invoke("replay", path).output
        assert '"asked": null' in invoke("export", path, "--json").output


def test_a_copy_keeps_the_times():
    opt, _ = told()
    assert times(copy.deepcopy(opt)) == times(opt)
