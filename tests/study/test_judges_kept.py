"""The log keeps the fit to judges: a resumed study equals the original and fits nothing again."""

import copy
import json
import warnings

import numpy as np
import pytest

import equipoise as eq
from equipoise.belief import StudyBelief
from equipoise.belief.judgements import fit, learning
from equipoise.data import PairToJudge
from equipoise.log.events import Asked, unfitted
from invoking import invoke
from studies import events, rewrite

SPACE = eq.Space(blur=eq.Float(0, 5), sharp=eq.Float(0, 1))
X = SPACE.candidates(np.random.default_rng(0))[:20]


@pytest.fixture(autouse=True)
def few(monkeypatch):
    """Twelve answers are many."""
    for module in (fit, learning):
        monkeypatch.setattr(module, "FEW", 12)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "study.jsonl"


@pytest.fixture
def deaf(monkeypatch):
    """After this is called, a fit, or more, fails."""

    def fail(*arguments):
        raise AssertionError("computed again")

    parts = {"_fitted": learning.Mixed}
    return lambda *names: [monkeypatch.setattr(parts.get(n, StudyBelief), n, fail) for n in names or ("_fitted",)]


def paired(opt):
    """A pair that costs nothing to propose."""
    first, second = np.random.default_rng(opt.judgements).random((2, 2))
    asked = Asked(opt._session.state.ledger.trials, PairToJudge(np.array([first, second]), 5))
    opt._session.change(lambda: opt._session.happen(asked))
    return opt.study.open_pairs[-1]


def judge(opt, n, readings=lambda k: 0):
    """Let Anna and Bert judge, who like a blur of 2; one of them gives numbers at times."""
    for k in range(opt.judgements, opt.judgements + n):
        rng, pair = np.random.default_rng(k), paired(opt)
        better = abs(pair.second["blur"] - 2) - abs(pair.first["blur"] - 2) + rng.normal()
        word = "equal" if abs(better) < 0.3 else "first" if better > 0 else "second"
        opt.tell(pair, 10 * better if k % 7 == 5 else word, judge=("anna", "bert")[k % 3 == 2])
        for _ in range(readings(k)):
            trial = opt.ask()
            opt.tell(trial, -abs(trial.x["blur"] - 2) + trial.id / 8)
    return opt


def seen(opt):
    """All that can be seen of the belief, to the last bit."""
    belief = opt.posterior
    at = belief.at(X)
    return (
        at.mean.tobytes(),
        at.variance.tobytes(),
        at.covariance().tobytes(),
        repr(opt.study.judges()),
        repr(belief.kernel),
    )


SOME = {"none": lambda k: 0, "among": lambda k: k % 3 == 1, "later": lambda k: 6 * (k == 15)}
STUDIES = {
    "learned": ({}, SOME["none"]),
    "learned, readings among": ({}, SOME["among"]),
    "learned, readings later": ({}, SOME["later"]),
    "a kernel": ({"kernel": 4.0 * eq.RBF(0.5)}, SOME["among"]),
    "duels": ({"offset": eq.Arbitrary()}, SOME["among"]),
}


@pytest.mark.parametrize(("parts", "readings"), STUDIES.values(), ids=STUDIES)
def test_a_study_that_is_taken_up_fits_nothing_and_is_the_one_that_was_left(path, deaf, parts, readings):
    opt = judge(eq.Optimizer(SPACE, log=path, rng=0, **parts), 17, readings)
    kept = [event["fit"]["judged"] for event in events(path) if "judged" in event.get("fit", {})]
    assert len(kept) >= 3
    assert "precisions" not in kept[0]
    assert len(kept[-1]["precisions"]) == kept[-1]["answers"] > 12
    now = seen(opt)
    assert seen(copy.deepcopy(opt)) == now  # copies keep all that was computed one by one
    if readings is SOME["none"]:
        deaf()
    assert seen(eq.resume(path)) == now
    once = copy.deepcopy(eq.resume(path)).ask_pair(), copy.deepcopy(opt).ask_pair()
    assert once[0].first == once[1].first


def test_it_goes_on_as_if_it_had_not_been_left(path):
    opt, other = (judge(eq.Optimizer(SPACE, rng=0, **parts), 11, SOME["among"]) for parts in ({}, {"log": path}))
    del other
    opt, again = judge(opt, 4), judge(eq.resume(path), 4)
    assert seen(again) == seen(opt)


def test_looking_computes_nothing(path, deaf):
    opt = judge(eq.Optimizer(SPACE, log=path, rng=0), 15)
    judges = repr(opt.study.judges())
    deaf("judge", "with_judgements", "on")
    again = eq.resume(path)
    assert repr(again.study.judges()) == judges
    assert len(again.study.answers()) == again.judgements == 15
    invoke("export", path)
    with pytest.raises(AssertionError, match="computed again"):
        again.posterior  # noqa: B018


def test_a_log_without_fits_is_taken_up(path):
    now = seen(judge(eq.Optimizer(SPACE, log=path, rng=0), 15))
    former = [{name: value for name, value in event.items() if name != "fit"} for event in events(path)]
    rewrite(path, former)
    again = eq.resume(path)
    assert seen(again) == now
    judge(again, 4)
    assert any("judged" in event.get("fit", {}) for event in events(path))


def test_what_is_taken_back_takes_its_fits_with_it(path, deaf):
    opt = judge(eq.Optimizer(SPACE, log=path, rng=0), 13)
    before = seen(opt)
    judge(opt, 1)
    opt.undo()
    assert seen(opt) == before
    size = path.stat().st_size
    assert len(path.read_bytes().splitlines()[-1]) < 200  # the fit is in the log already
    opt.correct(3, "first")
    assert path.stat().st_size > size + 200
    opt.retract(5)
    now = seen(opt)
    assert now != before
    deaf()
    assert seen(eq.resume(path)) == now


def test_a_reading_that_is_taken_back_is_so_for_judgements_too(path):
    opt = judge(eq.Optimizer(SPACE, log=path, rng=0), 13, SOME["among"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        opt.correct(opt.records()[0].trial, 0.1)
        opt.tell(opt.ask(), 9.9e37)  # cannot be: all is learned again without it
    assert seen(eq.resume(path)) == seen(opt)


def test_a_replay_believes_no_fit(path):
    opt = judge(eq.Optimizer(SPACE, log=path, rng=0), 14)
    anew = eq.Optimizer(SPACE, rng=0)
    for event in opt._session.state.events:
        anew.study.replay(unfitted(event))
    assert seen(anew) == seen(opt)


def change(**values):
    return lambda said: said | values


def of_judge(**values):
    return lambda said: said | {"judges": [said["judges"][0] | values, *said["judges"][1:]]}


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        (lambda said: [], "`judged` must be what was learned"),
        (change(answers=99), "its fit must be after answer"),
        (change(fitted=0), "its fit must be after answer 1 to"),
        (change(judges={}), "`judges` must be a list"),
        (change(judges=[{}]), "must be the parameters of each"),
        (of_judge(name="carl"), "of judges of the lines before, got 'carl'"),
        (of_judge(noise=0), "`noise` must be"),
        (of_judge(noise=1e200), "numbers that can be"),
        (of_judge(advantage=7), "`advantage` of its fit must be at most 6"),
        (of_judge(thresholds=[[5, 0.4]]), "`thresholds` of its fit must be those of 5 steps"),
        (of_judge(thresholds=[[5, 0.4, 0.3]]), "`thresholds` of its fit"),
        (of_judge(thresholds=[[4, 0.4]]), "`steps` must be one of"),
        (of_judge(thresholds=[3]), "`thresholds` must be a list"),
        (change(lengthscales=[0.1]), "must have 2 lengthscales"),
        (change(lengthscales=[0.1, 1e9]), "`lengthscale` of its fit must be"),
        (change(variance=-1), "`variance` must be"),
        (change(precisions=[1.0]), "`shifts` must have shape"),
        (change(precisions=[1.0], shifts=[0.0]), "must have 20 sites"),
        (change(precisions=[0.0] * 20), "`precisions` must be above 0"),
        (change(shifts=[1e300] * 20), "must be above 0, and they and `shifts` below"),
    ],
)
def test_a_fit_that_cannot_be_is_refused(tmp_path, twenty, changed, message):
    contents = [json.loads(line) for line in twenty.splitlines()]
    last = next(event for event in reversed(contents) if event.get("fit", {}).get("judged", {}).get("answers") == 20)
    last["fit"] = last["fit"] | {"judged": changed(last["fit"]["judged"])}
    rewrite(tmp_path / "study.jsonl", contents)
    with pytest.raises(eq.LogError, match=message):
        eq.resume(tmp_path / "study.jsonl")


@pytest.fixture(scope="module")
def twenty(tmp_path_factory):
    """The log of twenty judgements, with a fit at the last of them."""
    path = tmp_path_factory.mktemp("twenty") / "study.jsonl"
    with pytest.MonkeyPatch.context() as patched:
        for module in (fit, learning):
            patched.setattr(module, "FEW", 12)
        judge(eq.Optimizer(SPACE, log=path, rng=0), 20)
    return path.read_bytes()
