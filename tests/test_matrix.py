"""Every kind of study goes through every door: nothing breaks, nothing is said that is not a number.

A kind is in `kinds.py`, a door in `doors.py`; what is added there is tried with everything else. What a study refuses
for a reason is in `REFUSED`.
"""

import functools
import re
import shutil
import warnings
from functools import partial
from pathlib import Path

import pytest

import equipoise as eq
from doors import DOORS, RefusedError
from equipoise.belief import Folding, LearnedModel
from equipoise.study import defaults
from former import former
from kinds import KINDS

EARLIEST = Path(__file__).parent / "data" / "v0.1.0"
EARLIER = [
    *("0.1.0 default-box", "0.1.0 ids-two-point", "0.1.0 ids-one-point-forecast", "0.1.0 semits"),
    "0.2.0 judged-and-read",
]
LIKE_OTHERS = ("given", "runs", "started", "judged-numbers", "expired", "canceled")
"""Kinds that go through every door as another one does: they are left out here."""
STUDIES = [*(kind for kind in KINDS if kind not in LIKE_OTHERS), *EARLIER]

NOTICES = (eq.DuelGivenUp, eq.study.Estranged, eq.study.SetAside, eq.study.GapUnknown)
"""What a study says to who tells it something that it cannot use."""

NOTHING = "nothing was told|there is nothing to|there is no setting to compare|no readings or judgements"
SINGLE = "learns from duels alone"
REFUSED = {
    ("empty", "correct|audit|verify|cancel|undo"): NOTHING,
    ("judged|judged-names|verified-by-judges", "correct"): NOTHING,
    ("limited|objectives|careful-on-seeds", "audit"): "an audit measures everywhere",
    ("limited|careful-on-seeds", "verify|cancel"): "a verification moves back and forth",
    ("single", "judge|serve-judges|audit"): "[Tt]here is nothing to (compare|audit): a single setting",
    ("single", "verify|cancel"): "there is no setting to compare|there is no plan",
    ("auditing", "verify"): "a plan to audit is under way",
    ("folds", "verify"): "the 0 seeds that were never read",
    ("folds", "cancel"): "the 0 seeds that were never read|there is no plan",
    ("0.1.0 ids-two-point|0.1.0 ids-one-point-forecast|0.1.0 semits", "import-into|frames"): SINGLE,
    ("0.1.0 semits", "judge|serve-judges"): "must propose pairs to be judged",
}
"""What is refused, and in which words: kinds, doors, and a pattern of the words."""

KNOWN: dict[tuple[str, str], str] = {}
"""What does not work yet, and why."""


DRAWN = ("empty", "finite", "named", "names", "contexts", "limited", "judged-names", "verified", "counts", "folded")
"""Which kinds are drawn, each in a second: the others would have the same pictures."""


BY_GENERATORS = (
    "empty",
    "blocks",
    "seeds",
    "history",
    "limited",
    "failed",
    "corrected",
    "auditing",
    "verified",
    "minimized",
)
"""Which kinds a generator of gest-api can go on with: those of two numbers without a constraint."""


def found(table, kind, door):
    """Return what a table says of a kind of study at a door, if anything."""
    said = (text for (kinds, doors), text in table.items() if re.fullmatch(kinds, kind) and re.fullmatch(doors, door))
    return next(said, None)


def cells():
    """Return every kind of study with every door; those that do not work yet are marked."""
    for kind in STUDIES:
        for door in DOORS:
            if door == "gest" and kind not in BY_GENERATORS:
                continue
            if (door == "plot" and kind not in DRAWN) or (door == "replay-verify" and kind in EARLIER):
                continue  # another version may have proposed otherwise
            why = found(KNOWN, kind, door)
            marks = () if why is None else pytest.mark.xfail(strict=True, reason=why)
            yield pytest.param(kind, door, marks=marks, id=f"{kind} {door}")


def fold_early(patch):
    """Fold the readings of studies that are not long."""
    patch.setattr(defaults, "LearnedModel", partial(LearnedModel, folding=Folding(20, 6, 12)))


@pytest.fixture(scope="session")
def prepared(tmp_path_factory):
    """Return the log of a kind of study, made once."""
    folder = tmp_path_factory.mktemp("kinds")

    @functools.cache
    def log(kind):
        version, _, name = kind.rpartition(" ")
        if version:
            return EARLIEST / f"{name}.jsonl" if version == "0.1.0" else former(name, folder)
        path = folder / f"{kind}.jsonl"
        KINDS[kind](path, **({"readings": 30} if kind == "folded" else {}))
        return path

    return log


@pytest.mark.parametrize(("kind", "door"), list(cells()))
def test_a_study_goes_through(prepared, tmp_path, monkeypatch, kind, door):
    if kind == "folded":
        fold_early(monkeypatch)
    path = Path(shutil.copy(prepared(kind), tmp_path / "study.jsonl"))
    refusal = found(REFUSED, kind, door)
    with warnings.catch_warnings():
        for notice in NOTICES:
            warnings.simplefilter("ignore", notice)
        if refusal is None:
            DOORS[door](path)
        else:
            with pytest.raises(RefusedError, match=refusal):
                DOORS[door](path)


def test_what_is_refused_or_does_not_work_yet_is_there():
    for kinds, doors in [*REFUSED, *KNOWN]:
        assert set(kinds.split("|")) <= set(STUDIES)
        assert set(doors.split("|")) <= set(DOORS)
