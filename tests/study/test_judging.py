"""Judgements in a study: asked, told, taken back, resumed; alone and beside readings."""

import copy

import numpy as np
import pytest

import equipoise as eq
from equipoise.belief import StudyBelief
from equipoise.likelihoods import Judgement

SPACE = {"blur": eq.Float(0, 5), "sharp": eq.Float(0, 1)}


def merit(x):
    return 6 * np.exp(-(((x["blur"] - 2) / 2) ** 2) - ((x["sharp"] - 0.7) / 0.5) ** 2)


def said(pair, rng, advantage=0.0):
    """What a judge of noise 1 says, on five steps."""
    z = merit(pair.first) - merit(pair.second) + advantage + rng.normal()
    return pair.answers[2 + int(np.sign(z)) * (int(abs(z) > 0.4) + int(abs(z) > 1.6))]


def judged(n, **parts):
    rng, opt = np.random.default_rng(0), eq.Optimizer(eq.Space(**SPACE), rng=0, **parts)
    for _ in range(n):
        pair = opt.ask_pair()
        opt.tell(pair, said(pair, rng))
    return opt


@pytest.fixture(scope="module")
def forty(tmp_path_factory):
    """A study of forty judgements, which nobody changes."""
    return judged(40, log=tmp_path_factory.mktemp("forty") / "study.jsonl")


def test_finds_the_best_by_judgements_alone(forty):
    opt, path = forty, forty.study.log
    best = opt.recommend()
    assert merit(best.x) > 5
    assert (best.readings, best.judgements, opt.readings, opt.judgements) == (0, 40, 0, 40)
    assert best.kind == "estimate"
    assert 0 < best.gap_bound < np.inf
    found = opt.compare({"blur": 2, "sharp": 0.7}, {"blur": 4.5, "sharp": 0.1})
    assert found.chosen > 0.9
    assert "chosen over the other in" in str(found)
    assert opt.compare({"blur": 4.5, "sharp": 0.1}, {"blur": 2, "sharp": 0.7}).chosen == pytest.approx(1 - found.chosen)
    again = eq.resume(path)  # the same to the last bit, and the same next pair
    assert again.recommend().x == best.x
    mine, theirs = (copy.deepcopy(each).ask_pair() for each in (opt, again))
    assert (mine.first, mine.second, again.judgements) == (theirs.first, theirs.second, 40)
    assert [place.rank for place in opt.rank()][:3] == [1, 2, 3]


def test_an_answer_can_be_corrected_retracted_and_undone(tmp_path):
    opt = judged(8, log=tmp_path / "study.jsonl")
    X = opt.space.candidates(np.random.default_rng(0))[:20]
    before = opt.posterior.mean(X)
    pair = opt.ask_pair()
    opt.tell(pair, "much first")
    opt.tell(pair, "much first")  # no news
    with pytest.raises(ValueError, match="must stay 'much first'"):
        opt.tell(pair, "second")
    opt.correct(pair, "second")
    corrected = opt.posterior.mean(X)
    assert opt.undo() == opt.undo() == pair.id  # the correction, then the answer
    assert opt.posterior.mean(X).tobytes() == before.tobytes()
    opt.tell(pair.id, "second")
    assert opt.posterior.mean(X).tobytes() == corrected.tobytes()
    opt.retract(pair)
    assert opt.study.open_pairs == (pair,)
    opt.tell(pair, failed="can't tell")
    assert not opt.study.open_pairs
    assert opt.posterior.mean(X).tobytes() == before.tobytes()
    again = eq.resume(opt.study.log)
    assert again.posterior.mean(X).tobytes() == before.tobytes()
    assert again.study.judges()[0].skipped == opt.study.judges()[0].skipped == 1


def test_what_makes_no_sense_is_refused():
    opt = eq.Optimizer(eq.Space(**SPACE), rng=0)
    pair = opt.ask_pair(steps=3)
    assert pair.answers == ("second", "equal", "first")
    with pytest.raises(ValueError, match="`value` must be a number or one of"):
        opt.tell(pair, "much first")
    with pytest.raises(ValueError, match="`value` must be finite"):
        opt.tell(pair, np.nan)
    with pytest.raises(ValueError, match="exactly one of `value` and `failed`"):
        opt.tell(pair)
    with pytest.raises(ValueError, match="`trial` must be one that was asked for and is still open, got 5"):
        opt.tell(5, "first")
    with pytest.raises(ValueError, match="`steps` must be one of 2, 3, 5, 7, got 4"):
        opt.ask_pair(steps=4)
    with pytest.raises(TypeError, match="`judge` must be a name"):
        opt.ask_pair(judge=3)
    with pytest.raises(ValueError, match="`time` is for a reading"):
        opt.tell(pair, "first", time=3.0)
    with pytest.raises(ValueError, match="`judge` is for a pair"):
        opt.tell(opt.ask(), 1.0, judge="anna")
    with pytest.raises(ValueError, match="must propose pairs"):
        eq.Optimizer(eq.Box([(0, 1)]), policy=eq.UCB(), rng=0).ask_pair()
    opt.tell(pair, "first")
    assert opt.judgements == 1


def test_order_is_blind_and_open_pairs_differ():
    opt = eq.Optimizer(eq.Space(**SPACE), rng=1)
    pairs = [opt.ask_pair() for _ in range(12)]
    settings = {tuple(x.values()) for pair in pairs for x in (pair.first, pair.second)}
    assert len(settings) > 16
    assert [pair.id for pair in opt.study.open_pairs] == list(range(12))


def test_mixed_with_readings():
    """Readings in units of 1,000, and judgements: the judge's noise is learned in the unit of the readings."""
    rng, opt = np.random.default_rng(0), eq.Optimizer(eq.Space(**SPACE), rng=0)
    for k in range(12):
        for trial in (opt.ask(), opt.ask()):
            opt.tell(trial, 1000 * merit(trial.x) + 100 * rng.normal() + 50 * k)
        pair = opt.ask_pair()
        opt.tell(pair, said(pair, rng))
    best = opt.recommend()
    assert (best.readings, best.judgements) == (24, 12)
    assert merit(best.x) > 5
    assert 100 < opt.study.judges()[0].noise < 10_000
    difference = opt.compare({"blur": 2, "sharp": 0.7}, {"blur": 4.5, "sharp": 0.1})
    assert 3000 < difference.value < 9000
    assert difference.chosen > 0.8


def test_a_biased_judge_is_seen_through():
    """One who says the first place when in doubt; half of the pairs are asked in both orders."""
    rng, opt = np.random.default_rng(0), eq.Optimizer(eq.Space(**SPACE), rng=0)
    pairs = []

    def decide(first, second):
        pairs.append((first, second))
        z = merit(first) - merit(second) + 1.0 + rng.normal()
        return "first" if z > 0 else "second"

    best = opt.run(decide, judgements=45, judge="model", steps=2, check_every=4)
    (report,) = opt.study.judges()
    assert merit(best.x) > 4.5
    assert report.name == "model"
    assert report.answers == 45
    assert report.repeats == 9
    assert report.first > 0.55
    assert 0.65 < report.toss_up < 0.97
    assert report.consistent < report.repeats
    assert sum(pairs[k] == pairs[k - 1][::-1] for k in range(1, 45)) >= 9


def test_a_run_takes_either_kind():
    opt = eq.Optimizer(eq.Space(blur=eq.Float(0, 5), warm=eq.Context(0, 40)), rng=0)
    seen = []

    def decide(first, second):
        seen.append((first["warm"], second["warm"]))
        if len(seen) == 2:
            raise OSError("no picture")
        return None if len(seen) == 3 else "first"

    opt.run(decide, judgements=2, failures=(OSError,), context=lambda: {"warm": 10.0 * (len(seen) + 1)}, judge="anna")
    assert seen == [(10.0, 10.0), (20.0, 20.0), (30.0, 30.0), (40.0, 40.0)]
    said = opt.records(judgements=True)
    assert [(each.answer, each.failed) for each in said] == [
        ("first", None),
        ("first", None),
        (None, "no picture"),
        (None, "can't tell"),
    ]
    assert {each.worker for each in said} == {"anna"}
    opt.run(lambda x: x["blur"], readings=2, context={"warm": 10.0})
    assert (opt.readings, opt.judgements) == (2, 2)
    for wrong in ({}, {"readings": 3, "judgements": 3}):
        with pytest.raises(ValueError, match="exactly one of `readings` and `judgements`"):
            opt.run(decide, **wrong)


def test_an_error_of_a_judge_leaves_the_pair_open():
    opt = eq.Optimizer(eq.Space(blur=eq.Float(0, 5)), rng=0)
    with pytest.raises(ZeroDivisionError):
        opt.run(lambda first, second: 1 / 0, judgements=3)
    (pair,) = opt.study.open_pairs
    shown = []
    opt.run(lambda first, second: shown.append((first, second)) or "equal", judgements=1)
    assert shown == [(pair.first, pair.second)]


def test_a_ranking_of_names():
    """No features, so nothing is shared: the table is that of the strengths, and ranks that are sure are right."""
    strength = dict(zip("abcdef", (2.0, 1.2, 0.6, 0.0, -0.8, -1.6), strict=True))
    rng, opt = np.random.default_rng(0), eq.Optimizer(eq.Finite(list(strength)), rng=0)
    for _ in range(90):
        pair = opt.ask_pair(steps=3)
        z = strength[pair.first] - strength[pair.second] + rng.normal()
        opt.tell(pair, "equal" if abs(z) < 0.4 else "first" if z > 0 else "second")
    table = opt.rank()
    assert table[0].x in "ab"
    true = {name: rank for rank, name in enumerate("abcdef", 1)}
    assert all(place.ranks[0] - 1 <= true[place.x] <= place.ranks[1] + 1 for place in table)
    assert all(place.low < place.value < place.high for place in table)
    assert opt.recommend().x == table[0].x
    with pytest.raises(ValueError, match="one of the 6 names"):
        opt.compare("a", "z")


def test_a_ranking_may_be_of_all(tmp_path):
    parts = {"policy": eq.policies.Random(pairs=True), "design": 0, "log": tmp_path / "study.jsonl"}
    opt = eq.Optimizer(eq.Finite(list("abcd")), rng=0, **parts)
    met = set()
    for _ in range(30):
        pair = opt.ask_pair()
        met.add("".join(sorted(pair.first + pair.second)))
        opt.tell(pair, "first" if pair.first < pair.second else "second")
    assert len(met) == 6
    assert [place.x for place in eq.resume(opt.study.log).rank()] == list("abcd")


def test_a_kernel_that_is_given(tmp_path):
    points = np.linspace(0, 1, 30)[:, None]
    opt = eq.Optimizer(eq.Finite(points), kernel=4.0 * eq.RBF(0.2), rng=0, log=tmp_path / "study.jsonl")
    rng = np.random.default_rng(0)
    for _ in range(40):
        pair = opt.ask_pair(steps=2)
        z = -30 * (pair.first[0] - 0.6) ** 2 + 30 * (pair.second[0] - 0.6) ** 2 + rng.normal()
        opt.tell(pair, "first" if z > 0 else "second")
    assert opt.recommend().x[0] == pytest.approx(0.6, abs=0.15)
    assert eq.resume(opt.study.log).recommend().x == opt.recommend().x


def test_an_audit_by_judges():
    opt = judged(12)
    plan = opt.audit(duels=4)
    rng = np.random.default_rng(1)
    assert (plan.left, plan.told) == (4, 0)
    for _ in range(4):
        pair = opt.ask_pair()
        opt.tell(pair, said(pair, rng))
    assert opt.study.plan is None
    with pytest.raises(RuntimeError, match="nothing to verify"):
        eq.Optimizer(eq.Space(**SPACE), rng=0).verify()


def test_numbers_have_the_unit_of_the_judge():
    """Numbers of two judges, one of whom calls 100 what the other calls 1, teach the same f."""
    rng, opt = np.random.default_rng(0), eq.Optimizer(eq.Space(**SPACE), rng=0)
    for k in range(40):
        pair = opt.ask_pair(judge="ab"[k % 2])
        felt = merit(pair.first) - merit(pair.second) + rng.normal()
        opt.tell(pair, felt * (100 if k % 2 else 1))
    assert merit(opt.recommend().x) > 5
    units = {judge.name: judge.unit for judge in opt.study.belief.fit.judges}
    assert 30 < units["b"] / units["a"] < 300


def mirrored(answer):
    """The same answer for two settings in the other order."""
    other = {"first": "second", "second": "first"}
    return " ".join(other.get(word, word) for word in answer.split())


def test_mirrored_answers_teach_the_mirror_image():
    """The same pairs shown in the other order, with the other answers: the same belief, but for the first place."""
    opt = judged(12)
    belief = opt.study.belief
    swapped = StudyBelief(belief.source)
    for each in belief.judgements:
        swapped = swapped.judge(Judgement(each.second, each.first, mirrored(each.answer), each.steps, each.judge))
    X = opt.space.candidates(np.random.default_rng(0))[:20]
    ours, theirs = (each.posterior.mean(X) for each in (swapped, belief))
    assert ours - ours[0] == pytest.approx(theirs - theirs[0], abs=1e-3)
    assert swapped.fit.judges[0].advantage == pytest.approx(-belief.fit.judges[0].advantage, abs=1e-3)


def settle(opt, n, merit=merit, seed=1, **asked):
    rng = np.random.default_rng(seed)
    for _ in range(n):
        pair = opt.ask_pair(**asked)
        z = merit(pair.first) - merit(pair.second) + rng.normal()
        opt.tell(pair, "equal" if abs(z) < 0.4 else "first" if z > 0 else "second")


def test_two_settings_are_settled_by_fresh_judgements(tmp_path):
    opt, rival = judged(12, log=tmp_path / "study.jsonl"), {"blur": 4.5, "sharp": 0.1}
    plan = opt.verify(duels=16, against=[rival])
    best = opt.recommend().x
    assert (plan.left, plan.purpose) == (16, "verify")
    assert opt.compare(best, rival).preferred is None
    settle(opt, 16)
    fresh = opt.study.answers()[12:]
    assert all(sorted(map(repr, (pair.first, pair.second))) == sorted(map(repr, (best, rival))) for pair, _ in fresh)
    assert 4 <= sum(pair.first == best for pair, _ in fresh) <= 12
    share = opt.compare(best, rival).preferred
    assert share.judgements == 16
    assert 0.5 < share.low < share.value == pytest.approx(0.97, abs=0.1)
    assert opt.compare(rival, best).preferred == -share
    assert f"preferred to the other in {share}" in str(opt.compare(best, rival))
    again = eq.resume(opt.study.log).recommend()
    assert again.preferred == opt.recommend().preferred == ((rival, share),)
    assert (again.x, again.kind) == (best, "guess")  # without a reading there is no bound but by the model
    assert opt.study.plan is None


def test_answers_that_were_not_fresh_settle_nothing():
    opt = judged(8)
    best = opt.recommend().x
    for _ in range(6):
        opt.add(best, "first", against={"blur": 4.5, "sharp": 0.1})
    opt.verify(duels=2, against=[{"blur": 4.5, "sharp": 0.1}])
    settle(opt, 2)
    assert [share.judgements for _, share in opt.recommend().preferred] in ([], [2])


def test_the_coins_of_judgements(forty):
    """They explain the answers of one who looks at the places alone, but not those of one who looks at the settings."""
    assert forty.study.coin_test() < 0.01
    by_place = eq.Optimizer(eq.Space(**SPACE), design=20, rng=0)
    by_place.run(lambda first, second: "first", judgements=15, check_every=3)
    assert by_place.study.coin_test() > 0.1
    taken = eq.Optimizer(eq.Space(**SPACE), rng=0)
    for pair, answer in forty.study.answers()[:8]:
        taken.add(pair.first, answer, against=pair.second)
    assert taken.study.coin_test() == 1.0  # no coin was tossed


def test_a_context_is_given_and_not_chosen():
    opt = eq.Optimizer(eq.Space(blur=eq.Float(0, 5), light=eq.Context(0, 1)), rng=0)
    with pytest.raises(ValueError, match="light"):
        opt.ask_pair()
    settle(opt, 8, lambda x: -abs(x["blur"] - 4 * x["light"]), context={"light": 0.5})
    assert {x["light"] for pair, _ in opt.study.answers() for x in (pair.first, pair.second)} == {0.5}
    assert opt.recommend().x["light"] == 0.5


def test_judgements_go_into_tables_and_out_of_them():
    pytest.importorskip("pandas")
    opt = judged(6)
    pair = opt.ask_pair(judge="anna", again=2)
    opt.tell(pair, failed="can't tell")
    opt.tell(opt.ask_pair(judge="anna"), -0.5)
    frame = opt.study.to_frame(judgements=True)
    assert frame["answer"].tolist() == [*(answer for _, answer in opt.study.answers()[:6]), -0.5, None]
    assert frame["skipped"].tolist()[-1] == "can't tell"
    assert frame["again"].tolist()[-1] == 2
    other = eq.Optimizer(eq.Space(**SPACE), rng=1)
    assert other.study.add_frame(frame, judgements=True) == list(range(7))
    assert [answer for _, answer in other.study.answers()] == [answer for _, answer in opt.study.answers()]
    assert [pair.judge for pair, _ in other.study.answers()] == [""] * 6 + ["anna"]
    assert all(record.added for record in other.records(judgements=True))
    with pytest.raises(
        ValueError, match=r"first.blur, first.sharp, second.blur, second.sharp, answer; it lacks answer"
    ):
        other.study.add_frame(frame.drop(columns="answer"), judgements=True)
    with pytest.raises(ValueError, match=r"second\.blur must be a number, got 'x'"):
        other.study.add_frame(frame.assign(**{"second.blur": "x"}), judgements=True)
    assert other.judgements == 7


def test_what_was_taken_in_and_taken_back_is_asked_of_nobody():
    opt = eq.Optimizer(eq.Finite(["moka", "press"]), rng=0)
    taken = opt.add("moka", "first", against="press")
    opt.retract(taken)
    assert not opt.study.open_pairs
    assert opt.study.next_pair().id == 1
    assert opt.judgements == 0


def test_a_belief_that_cannot_learn_from_judgements_refuses_the_first(tmp_path):
    posterior = eq.policies.SemiTSPosterior(np.eye(2), eq.Linear())
    opt = eq.Optimizer(eq.Finite(np.eye(2)), posterior=posterior, log=tmp_path / "study.jsonl", rng=0)
    with pytest.raises((TypeError, ValueError)):
        opt.add([1, 0], "first", against=[0, 1])
    assert opt.judgements == eq.resume(opt.study.log, posterior=posterior).judgements == 0


def test_votes_on_names_take_the_shortest_scale():
    pd = pytest.importorskip("pandas")
    opt = eq.Optimizer(eq.Finite(["moka", "press"]), rng=0)
    votes = pd.DataFrame({"first": ["moka", "press"], "second": ["press", "moka"], "answer": ["first", "second"]})
    opt.study.add_frame(votes, judgements=True)
    assert [pair.answers for pair, _ in opt.study.answers()] == [("second", "first")] * 2
    assert opt.study.to_frame(judgements=True)[["first", "second"]].to_numpy().tolist() == [
        ["moka", "press"],
        ["press", "moka"],
    ]
    with pytest.raises(ValueError, match="must be one of the 2 names, got 'tea'"):
        opt.study.add_frame(votes.assign(first="tea"), judgements=True)
