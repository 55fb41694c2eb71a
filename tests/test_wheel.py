"""The wheel holds what the package needs, and works where it is unpacked, away from the checkout."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import equipoise

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """A folder with the wheel's content: to install a wheel of plain Python is to unpack it."""
    builders = pytest.importorskip("hatchling.builders.wheel", reason="needs hatchling, which is in the extra `dev`")
    folder = tmp_path_factory.mktemp("wheel")
    (wheel,) = builders.WheelBuilder(str(ROOT)).build(directory=str(folder), versions=["standard"])
    with zipfile.ZipFile(wheel) as packed:
        packed.extractall(folder / "fresh")
    return folder / "fresh"


def run(installed, *arguments):
    """Run the command from the unpacked wheel, in its folder."""
    environment = os.environ | {"PYTHONPATH": str(installed), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "equipoise", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, cwd=installed.parent, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_every_file_of_the_package_is_in_the_wheel(installed):
    source = Path(equipoise.__file__).parent
    wanted = {path.relative_to(source) for path in source.rglob("*") if path.is_file() and path.suffix != ".pyc"}
    assert wanted == {path.relative_to(installed / "equipoise") for path in (installed / "equipoise").rglob("*.*")}


def test_the_metadata_says_what_it_is(installed):
    (info,) = installed.glob("*.dist-info")
    metadata = (info / "METADATA").read_text(encoding="utf-8")
    assert f"\nVersion: {equipoise.__version__}\n" in metadata
    assert "Description-Content-Type: text/markdown" in metadata
    assert "Provides-Extra: docs" in metadata
    assert "equipoise = equipoise.cli.main:main" in (info / "entry_points.txt").read_text(encoding="utf-8")
    assert (info / "licenses" / "NOTICE").exists()


def test_it_runs_where_it_was_unpacked(installed):
    assert run(installed, "--version") == f"equipoise, version {equipoise.__version__}\n"
    run(installed, "new", "study.jsonl", "--float", "q1", "0", "1", "--seed", "0")
    assert run(installed, "ask", "study.jsonl").startswith("0 q1=")
    assert "Trial 0 is told" in run(installed, "tell", "study.jsonl", "0", "0.5")
    world = ("--world", "oats, 2 a batch", "--competitor", "randomized blocks", "--seeds", "1")
    assert "randomized blocks" in run(installed, "bench", "real", *world)
