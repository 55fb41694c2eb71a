"""Random studies go through random steps, as strangers take them: together, in any order, with odd values.

A step that is refused names an argument or says what is wrong, and changes nothing; a log resumes to the same study.
"""

import warnings
from functools import partial

import numpy as np
import pytest

import equipoise as eq
from doors import clean, must_agree

NOTICES = [
    *(eq.DuelGivenUp, eq.study.Estranged, eq.study.SetAside, eq.study.GapUnknown, eq.study.DeadSensor),
    *(eq.study.DropExceeded, eq.study.WrongUnit),
]
MIXED = eq.Space({"a b": eq.Float(1e-3, 1, log=True), "class": eq.Choice(["x", None]), "n": eq.Int(1, 4)})
WEATHER = eq.Space(q1=eq.Float(0, 1, step=0.25), t=eq.Context(0, 40), constraint="q1 <= 0.75")
SPACES = [MIXED, WEATHER, eq.Box([(-1e6, 1e6), (0, 1e-6)]), eq.Finite(["espresso", "filter", "lätte"])]
OPTIONS = [
    *({"minimize": True}, {"seeds": True}, {"seeds": ["fold 1", "fold 2"]}, {"block": "monday"}, {"max_gap": 1.5}),
    *({"offset": eq.Blocks(3)}, {"offset": eq.Arbitrary()}, {"likelihood": eq.likelihoods.Poisson()}),
    *({"objective": "flux, -size", "limits": ["flux >= start - 1"]}, {"objective": "-flux", "limits": ["loss <= 3"]}),
    *({"drop": 2.0}, {"drop": 1e200}, {"safe": True}, {"policy": eq.UCB()}, {"policy": eq.policies.EUBO()}),
    *({"kernel": eq.RBF(0.3)}, {"reduction": eq.OnePoint(eq.BestForecaster())}),
]
UNITS = (1.0, 1.0, 1.0, 1e-12, 1e9, 1e100)


def attempted(act):
    """Return what a call returns, or the words of its refusal, which name an argument unless the order is wrong."""
    try:
        return act(), ""
    except (ValueError, TypeError, RuntimeError) as error:
        if "`" not in str(error) and not isinstance(error, RuntimeError):
            raise
        return None, str(error)


class Stranger:
    """Someone who tries everything."""

    def __init__(self, seed, path):
        self.rng, self.path = np.random.default_rng(seed), path
        self.unit = self.one_of(UNITS)
        self.opt = self.began()

    def one_of(self, options):
        return options[int(self.rng.integers(len(options)))]

    def somewhere(self):
        points = self.opt.space.candidates(np.random.default_rng(int(self.rng.integers(2**31))))
        return self.opt.space.decode(self.one_of(points))

    @property
    def context(self):
        return {"t": round(float(self.rng.uniform(0, 40)), 1)} if self.opt.space.contexts else None

    def began(self):
        """Begin a study with some options that go together."""
        space = self.one_of(SPACES)
        start = space.decode(space.candidates(np.random.default_rng(0))[0])
        while True:
            drawn = [self.one_of(OPTIONS) for _ in range(self.rng.integers(4))]
            given = {name: value for options in [{"start": start}, *drawn] for name, value in options.items()}
            opt, words = attempted(partial(eq.Optimizer, space, log=self.path, rng=0, **given))
            if not words:
                return opt
            assert "`" in words
            assert not self.path.exists()

    def value(self):
        """Return a reading: mostly what is asked for, with outliers, and at times no reading at all."""
        setup = self.opt.study.setup
        number = self.unit * float(self.rng.normal()) * self.one_of((1.0,) * 8 + (1e8,))
        if self.rng.random() < 0.1:
            return self.one_of([float("nan"), "x", {}, True, (1, 2), np.array([1.0, 2.0]), -0.5])
        number = self.one_of([number, np.float64(number), np.array(number)])
        number = number if setup.likelihood.exact else int(min(abs(number), 1e6))
        return number if setup.outputs is None else dict.fromkeys(setup.outputs.names, number)

    def trial(self):
        """Return the number of a trial, that of a known one mostly."""
        known = [record.trial for record in self.opt.records(aside=False)]
        return self.one_of([*known, 10**6])

    def measured(self):
        for _ in range(3):
            trial = self.opt.ask(context=self.context)
            assert self.opt.space.valid(self.opt.space.encode(trial.x)[None]).all()
            self.opt.tell(trial, self.value(), **self.one_of([{}, {}, {"time": 1.0}, {"block": "b"}, {"refit": False}]))

    def judged(self):
        pair = self.opt.ask_pair(judge=self.one_of(["", "anna"]), steps=self.one_of([2, 5, 4]), context=self.context)
        self.opt.tell(pair, self.one_of([*pair.answers, 0.5, "perhaps"]))

    def looked(self):
        best = self.opt.recommend(context=self.context)
        clean(str(best) + best._repr_html_() + repr(self.opt))

    def resumed(self):
        again = eq.resume(self.path)
        must_agree(self.opt, again, self.context)
        self.opt = again

    def step(self):
        """Take a step, which may be refused."""
        opt, context = self.opt, self.context
        steps = [
            *(self.measured, self.measured, self.measured, self.judged, self.looked, self.resumed, opt.undo),
            *(lambda: opt.ask(n=2, worker=self.one_of([None, "laser"]), context=context), opt.cancel, opt.rank),
            *(lambda: opt.tell(self.trial(), failed="no\nbeam"), lambda: opt.study.expire(self.trial())),
            *(lambda: opt.correct(self.trial(), self.value()), lambda: opt.retract(self.trial())),
            *(lambda: opt.add(self.somewhere(), self.value(), block=self.one_of([None, "2025"])), opt.front),
            *(lambda: opt.audit(2, context=context), lambda: opt.verify(2, context=context)),
            *(lambda: opt.compare(self.somewhere(), self.somewhere()), lambda: opt.begin_block("tuesday")),
            *(lambda: opt.study.set("n", (1, self.one_of([3, 6]))), lambda: opt.tell(self.trial(), self.value())),
        ]
        return self.one_of(steps)

    def state(self):
        opt = self.opt
        return repr(opt.records(aside=False)), repr(opt.study.open_pairs), repr(opt.study.plan), self.path.read_bytes()


COMPOUND = ("measured", "judged", "resumed")
"""Steps of several calls, of which a later one may be refused."""


@pytest.mark.parametrize("seed", range(40))
def test_what_is_refused_changes_nothing_and_the_log_says_all(tmp_path, seed):
    with warnings.catch_warnings():
        for notice in NOTICES:
            warnings.simplefilter("ignore", notice)
        stranger = Stranger(seed, tmp_path / "a study ☃.jsonl")
        for _ in range(20):
            step = stranger.step()
            before = stranger.state()
            _, words = attempted(step)
            assert not words or stranger.state() == before or step.__name__ in COMPOUND, words
        stranger.looked()
        stranger.resumed()
