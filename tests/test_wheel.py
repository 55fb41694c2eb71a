"""The wheel and the sdist are whole; the wheel works away from the checkout, with only the packages that it names."""

import os
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from importlib import metadata
from pathlib import Path

import pytest

import equipoise

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """A folder with the wheel's content: to install a wheel of plain Python is to unpack it."""
    builders = pytest.importorskip("hatchling.builders.wheel", reason="needs hatchling, which is in the extra `dev`")
    folder = tmp_path_factory.mktemp("wheel")
    (wheel,) = builders.WheelBuilder(str(ROOT)).build(directory=str(folder), versions=["standard"])
    with zipfile.ZipFile(wheel) as packed:
        packed.extractall(folder / "fresh")
    return folder / "fresh"


def needed(extras):
    """The distributions that the core and some extras bring, with all that these bring in turn."""
    requirements = pytest.importorskip("packaging.requirements", reason="needs packaging, which pytest brings")
    named = [*PROJECT["dependencies"], *(each for extra in extras for each in PROJECT["optional-dependencies"][extra])]
    waiting, found = [(text, "") for text in named], {}
    while waiting:
        text, extra = waiting.pop()
        wanted = requirements.Requirement(text)
        if wanted.marker is not None and not wanted.marker.evaluate({"extra": extra}):
            continue
        if wanted.name == "equipoise":
            waiting += [(each, "") for part in wanted.extras for each in PROJECT["optional-dependencies"][part]]
            continue
        known = (wanted.name.lower(), *sorted(wanted.extras))
        if known not in found:
            found[known] = metadata.distribution(wanted.name)
            waiting += [(each, part) for each in found[known].requires or () for part in ("", *wanted.extras)]
    return found.values()


def environment(folder, extras=()):
    """A folder with links to these distributions and to nothing else that is installed here."""
    folder.mkdir()
    for each in needed(extras):
        for top in {Path(str(file)).parts[0] for file in each.files or () if not str(file).startswith(("..", "__"))}:
            link = folder / top
            if not link.exists():
                link.symlink_to(Path(str(each.locate_file(top))).resolve())
    return folder


@pytest.fixture(scope="module")
def core(tmp_path_factory):
    """An environment with the core dependencies only."""
    return environment(tmp_path_factory.mktemp("core") / "packages")


def python(installed, packages, *arguments):
    """Run Python with the unpacked wheel and some packages, without those installed here; return what it printed."""
    folders = os.pathsep.join(map(str, (installed, packages)))
    surroundings = os.environ | {"PYTHONPATH": folders, "OMP_NUM_THREADS": "1", "MPLBACKEND": "Agg"}
    command = [sys.executable, "-S", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, cwd=installed.parent, env=surroundings, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_every_file_of_the_package_is_in_the_wheel(installed):
    source = Path(equipoise.__file__).parent
    wanted = {path.relative_to(source) for path in source.rglob("*") if path.is_file() and path.suffix != ".pyc"}
    unpacked = {path.relative_to(installed / "equipoise") for path in (installed / "equipoise").rglob("*.*")}
    assert wanted == {path for path in unpacked if path.suffix != ".pyc"}


def test_the_metadata_says_what_it_is(installed):
    (info,) = installed.glob("*.dist-info")
    metadata = (info / "METADATA").read_text(encoding="utf-8")
    assert f"\nVersion: {equipoise.__version__}\n" in metadata
    assert "Description-Content-Type: text/markdown" in metadata
    assert "Provides-Extra: docs" in metadata
    assert "equipoise = equipoise.cli.main:main" in (info / "entry_points.txt").read_text(encoding="utf-8")
    assert (info / "licenses" / "NOTICE").exists()


@pytest.mark.skipif(sys.platform == "win32", reason="links packages, which Windows allows to few users")
def test_it_runs_with_the_core_dependencies_only(installed, core):
    def run(*arguments):
        return python(installed, core, "-m", "equipoise", *arguments)

    assert run("--version") == f"equipoise, version {equipoise.__version__}\n"
    run("new", "study.jsonl", "--float", "q1", "0", "1", "--seed", "0")
    assert run("ask", "study.jsonl").startswith("0 q1=")
    assert "Trial 0 is told" in run("tell", "study.jsonl", "0", "0.5")
    world = ("--world", "oats, 2 a batch", "--competitor", "randomized blocks", "--seeds", "1")
    assert "randomized blocks" in run("bench", "real", *world)
    tried = (
        "import equipoise as eq\nprint(eq.__file__)\ntry: eq.plots.style.pyplot()\nexcept ImportError as e: print(e)"
    )
    said = python(installed, core, "-c", tried)
    assert said.startswith(str(installed))
    assert "install equipoise[plot]" in said


@pytest.mark.skipif(sys.platform == "win32", reason="links packages, which Windows allows to few users")
def test_a_part_without_its_packages_names_the_extra(installed, core):
    """Every part that needs an extra, in an environment with the core dependencies only."""
    for module in ("web", "integrations.optuna", "integrations.sklearn", "integrations.gest", "integrations.xopt"):
        code = f"try: import equipoise.{module}\nexcept ImportError as error: print(error)"
        extra = module.rpartition(".")[2]
        assert f'pip install "equipoise[{extra}]"' in python(installed, core, "-c", code), module


EXTRAS = {
    "plot": "import equipoise as eq; eq.plots.style.pyplot()",
    "experiments": "import joblib, matplotlib, equipoise.lab.experiments",
    "optuna": "from equipoise.integrations.optuna import DuelSampler; DuelSampler(seed=0)",
    "sklearn": "from equipoise.integrations.sklearn import DuelSearchCV",
    "gest": "import equipoise.integrations.gest",
    "xopt": "import xopt, equipoise.integrations.gest",
    "web": "import equipoise.web, starlette, uvicorn, jinja2",
    "frames": "import equipoise, pandas",
    "gpu": "import array_api_compat, equipoise.lab.fleet",
}
"""What each extra for users is for, in one line."""


@pytest.mark.skipif(sys.platform == "win32", reason="links packages, which Windows allows to few users")
@pytest.mark.parametrize("extra", EXTRAS)
def test_an_extra_brings_what_its_part_needs(installed, extra, tmp_path):
    try:
        packages = environment(tmp_path / "packages", [extra])
    except metadata.PackageNotFoundError as missing:
        pytest.skip(f"the extra `{extra}` is not installed here: {missing}")
    python(installed, packages, "-c", EXTRAS[extra])


def test_the_page_on_installing_names_every_extra():
    text = (ROOT / "docs" / "install.md").read_text(encoding="utf-8")
    named = re.findall(r"^\| `(\w+)` \|", text, re.MULTILINE)
    assert sorted(named) == sorted(PROJECT["optional-dependencies"])
    assert set(named) - {"docs", "dev"} == set(EXTRAS)


def test_the_sdist_builds_the_same_wheel(installed, tmp_path):
    sdist = pytest.importorskip("hatchling.builders.sdist", reason="needs hatchling, which is in the extra `dev`")
    wheels = pytest.importorskip("hatchling.builders.wheel")
    (packed,) = sdist.SdistBuilder(str(ROOT)).build(directory=str(tmp_path), versions=["standard"])
    with tarfile.open(packed) as content:
        content.extractall(tmp_path, filter="data")
    (root,) = (each for each in tmp_path.iterdir() if each.is_dir())
    assert (root / "tests" / "test_wheel.py").exists()
    (wheel,) = wheels.WheelBuilder(str(root)).build(directory=str(tmp_path / "out"), versions=["standard"])
    with zipfile.ZipFile(wheel) as zipped:
        again = {name for name in zipped.namelist() if not name.endswith("/")}
    files = {path.relative_to(installed).as_posix() for path in installed.rglob("*") if path.is_file()}
    assert again == {name for name in files if "__pycache__" not in name}
