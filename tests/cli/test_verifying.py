"""`equipoise replay --verify`: it reproduces every kind of study, to the bit here and up to rounding elsewhere."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

import equipoise as eq
import portability
from invoking import invoke
from kinds import KINDS, read
from studies import events, rewrite

NAMES = sorted(set(KINDS) - {"folded"})
"""All kinds but the one of 500 readings."""

WRITE = "import sys; from kinds import KINDS; [KINDS[n](f'{sys.argv[1]}/{n}.jsonl') for n in sys.argv[2].split()]"
VERIFY = (
    "import json, sys; from pathlib import Path; from equipoise.cli.verifying import verified; "
    "print(json.dumps({p.stem: verified(p).data() for p in sorted(Path(sys.argv[1]).glob('*.jsonl'))}))"
)
MADE_BY, *OTHERS = portability.CORES or ["none"]


def run(code, *arguments, core):
    """Run a program that finds the modules of the tests, with the kernels of a core."""
    paths = [str(Path(portability.__file__).parent)]
    start = f"import sys; sys.path[:0] = {paths!r}; "
    done = subprocess.run(
        [sys.executable, "-c", start + code, *arguments],
        env=portability.with_core(core),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A folder of studies of every kind, written with the kernels of one core."""
    folder = tmp_path_factory.mktemp("made")
    run(WRITE, str(folder), " ".join(NAMES), core=MADE_BY)
    return folder


@pytest.mark.parametrize("core", ["SkylakeX", "Sandybridge"])
def test_another_core_makes_the_same_proposals_but_for_rounding(made, core):
    if core not in OTHERS:
        pytest.skip(f"this processor cannot run the kernels of {core}")
    found = json.loads(run(VERIFY, str(made), core=core))
    assert sorted(found) == NAMES
    assert {name: data for name, data in found.items() if data["different"] or data.get("different_pairs")} == {}


@pytest.mark.parametrize("name", ["contexts", "blocks", "verified", "auditing", "limited", "judged-and-read", "given"])
def test_the_same_core_makes_the_same_to_the_last_bit(tmp_path, name):
    KINDS[name](tmp_path / "study.jsonl")
    data = json.loads(invoke("replay", tmp_path / "study.jsonl", "--verify", "--json").stdout)
    assert {word: data[word] for word in data if word.startswith(("different", "within"))} in (
        {"different": [], "within_rounding": []},
        {"different": [], "within_rounding": [], "different_pairs": [], "within_rounding_pairs": []},
    )


def changed(path, change):
    """Change the last duel of a log, all of whose checksums are right afterwards."""
    contents = events(path)
    last = next(content for content in reversed(contents) if "duel" in content)
    change(last)
    rewrite(path, contents)


def test_a_setting_that_is_as_good_but_for_rounding_is_no_alarm(tmp_path):
    path = tmp_path / "study.jsonl"
    KINDS["box"](path)

    def nudge(content):
        content["points"][0][0] *= 1 + 1e-12

    changed(path, nudge)
    said = invoke("replay", path, "--verify").stdout
    assert "Proposals that come out differently: none. 1 of 12 differ within rounding." in said


@pytest.mark.parametrize("moved", [1e-3, -0.2])
def test_another_setting_is(tmp_path, moved):
    path = tmp_path / "study.jsonl"
    KINDS["box"](path)

    def move(content):
        content["points"][1][0] += moved if content["points"][1][0] + moved > -1 else -moved

    changed(path, move)
    assert "Proposals that come out differently: [11]." in invoke("replay", path, "--verify", code=1).stdout


def test_another_order_is(tmp_path):
    path = tmp_path / "study.jsonl"
    KINDS["given"](path)
    changed(path, lambda content: content["measure"].reverse() or content["signs"].reverse())
    assert json.loads(invoke("replay", path, "--verify", "--json", code=1).stdout)["different"] == [6]


def test_a_fit_that_the_readings_do_not_lead_to_is(tmp_path):
    """What follows from a fit is no excuse for it."""
    path = tmp_path / "study.jsonl"
    KINDS["box"](path)
    contents = events(path)
    for content in contents:
        if "fit" in content:
            content["fit"]["lengthscales"] = [0.3 * each for each in content["fit"]["lengthscales"]]
    rewrite(path, contents)
    read(eq.resume(path), 4)
    assert json.loads(invoke("replay", path, "--verify", "--json", code=1).stdout)["different"] != []
