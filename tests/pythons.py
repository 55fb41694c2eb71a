"""Run the tests that depend on the version of Python on every version that is found: `make pythons`.

    python tests/pythons.py [ARGUMENTS OF PYTEST]

Interpreters are looked for on the path and among those of pyenv. Each gets its own environment under `build`.
With arguments, such as `tests`, pytest runs these instead of the sensitive rooms.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

VERSIONS = ("3.11", "3.12", "3.13", "3.14")
SENSITIVE = ["tests/log", "tests/study", "tests/cli", "tests/spaces", "tests/test_linalg.py", "tests/test_optimizer.py"]
"""Rooms that depend on how Python traces, forks, pickles, writes and interrupts; then the doctests of the library."""

ROOT = Path(__file__).parents[1]


def interpreters():
    """The newest interpreter of every version that is found, by version."""
    roots = [Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"]
    found = {}
    for version in VERSIONS:
        pyenv = [each for root in roots for each in root.glob(f"{version}.*/bin/python")]
        newest = max(pyenv, key=lambda path: [int(n) for n in path.parts[-3].split(".") if n.isdigit()], default=None)
        chosen = newest or shutil.which(f"python{version}")
        found |= {version: Path(chosen)} if chosen else {}
    return found


def environment(version, interpreter):
    """The Python of an environment with the project in it, made if it is missing."""
    folder = ROOT / "build" / f"python-{version}"
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    if not (folder / ".made").exists():
        subprocess.run([interpreter, "-m", "venv", folder], check=True)
        install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-compile"]
        subprocess.run([python, *install, "--editable", f"{ROOT}[dev]"], check=True)
        (folder / ".made").touch()
    return python


def main(arguments):
    """Run the tests on every version; return how many of these failed."""
    failed, found = [], interpreters()
    for version, interpreter in found.items():
        command = [environment(version, interpreter), "-m", "pytest", "-n", "auto", "--dist", "worksteal"]
        code = subprocess.run([*command, *(arguments or [*SENSITIVE, "src"])], cwd=ROOT, check=False).returncode
        print(f"Python {version}: {'passed' if code == 0 else 'FAILED'}", flush=True)
        failed += [version] if code else []
    missing = [version for version in VERSIONS if version not in found]
    print(f"failed: {', '.join(failed) or 'none'}; not found: {', '.join(missing) or 'none'}")
    return len(failed) if found else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
