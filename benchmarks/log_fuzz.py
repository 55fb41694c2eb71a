"""A stranger's log is data: mutated logs are read or refused with a `LogError`, and never do anything else.

    python benchmarks/log_fuzz.py [MUTATIONS] [SEED]

Logs of every kind of study, of this version and of 0.1.0, are changed at random: values replaced by others of any type,
keys removed or added, lines doubled, moved or cut; mostly with checksums that are right again. Each is then resumed
and asked for its best setting. Memory is limited to a gigabyte above what the process needs, and CPU time is measured.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import copy
import json
import random
import resource
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import equipoise as eq
from equipoise.log.jsonl import Place, sealed
from equipoise.log.parts import GivenAgainError

FORMER = Path(__file__).parents[1] / "tests" / "data" / "v0.1.0"
LINES = 10
"""Lines of a log that are kept: every kind of event is among them, and a replay takes milliseconds."""

JUNK: list[Any] = [None, True, -1, 0, 2, 7, 0.5, -0.5, 1e-300, 1e308, 2**63, 10**30, 10**9, "", "x", "\x1b[2J"]
JUNK += ["\ud800", [], {}, [[]], [0], [0.5, 0.5], ["a"], {"type": "RBF"}, {"type": "Optimizer"}, {"repr": "x"}]
JUNK += [[1e308] * 3, "RBF", "TwoPoint", "OnePoint", "IDS", "LearnedModel", "FinitePosterior", "box", "finite"]
KEYS = ["log", "rng", "space", "kernel", "points", "candidates", "type", "worker", "weights", "baseline", "x", "value"]

Line = dict[str, Any]


def sources(folder: Path) -> list[list[Line]]:
    """The logs to be mutated, a few lines of each."""
    space = eq.Space(q=eq.Float(0, 1), n=eq.Int(1, 4), mode=eq.Choice(["a", "b"]), lens="in", candidates=16)
    studies: dict[str, dict[str, Any]] = {"learned": {}, "given": {"kernel": eq.RBF(0.3), "policy": eq.IDS()}}
    for name, parts in studies.items():
        opt = eq.Optimizer(space, log=folder / f"{name}.jsonl", rng=0, max_gap=5.0, **parts)
        opt.tell(opt.ask(worker="w"), 0.5, time=1.0, error=0.1)
        opt.tell(opt.ask(worker="w"), 0.7, time=2.0, x=opt.ask().x)
        opt.correct(0, 0.6)
        opt.retract(1)
        opt.study.note("best", "dialed in", x={"q": 0.5, "n": 2, "mode": "a"})
    planned = eq.Optimizer(space, log=folder / "planned.jsonl", rng=0, kernel=eq.RBF(0.3), policy=eq.IDS())
    for value in (0.5, 0.7):
        planned.tell(planned.ask(), value)
    planned.verify(2, against=[{"q": 0.1, "n": 1, "mode": "a", "lens": "in"}])
    planned.tell(planned.ask(), 0.4)
    planned.cancel()
    planned.audit(2)
    judged = eq.Optimizer(space, log=folder / "judged.jsonl", rng=0, kernel=eq.RBF(0.3), policy=eq.IDS())
    for k in range(6):  # what was learned of the judge is in the last line
        x = {"q": 0.1 * k, "n": 1, "mode": "a", "lens": "in"}
        judged.add(x, "first" if k else 0.5, against=x | {"mode": "b"}, judge="w")
    paths = [*folder.glob("*.jsonl"), *FORMER.glob("*.jsonl")]
    kept = {"judged": 13}
    lines = {path: path.read_text().splitlines()[: kept.get(path.stem, LINES)] for path in sorted(paths)}
    return [list(map(json.loads, each)) for each in lines.values()]


def nodes(value: Any, parent: Any = None, key: Any = None) -> Iterator[tuple[Any, Any]]:
    """Yield every place in a JSON value: what holds it, and under which key."""
    if parent is not None:
        yield parent, key
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, each in inside:
        yield from nodes(each, value, name)


def mutate(lines: list[Line], rng: random.Random) -> list[Line]:
    """Return a log with one to three things changed."""
    lines = copy.deepcopy(lines)
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        line = lines[0] if rng.random() < 0.3 else rng.choice(lines)
        parent, key = rng.choice(list(nodes(line)) or [(line, "x")])
        what = rng.random()
        if what < 0.6:
            parent[key] = copy.deepcopy(rng.choice(JUNK))
        elif what < 0.7:
            del parent[key]
        elif what < 0.8 and isinstance(parent, dict):
            parent[rng.choice(KEYS)] = copy.deepcopy(rng.choice(JUNK))
        elif what < 0.85:
            parent[key] = [parent[key]] * rng.choice([2, 50, 5_000])
        elif what < 0.87:
            parent[key] = json.loads("[" * 120 + "]" * 120)
        elif what < 0.94:
            lines.insert(rng.randrange(len(lines) + 1), copy.deepcopy(rng.choice(lines)))
        else:
            lines.pop(rng.randrange(len(lines)))
        if not lines:
            break
    return lines


def written(lines: list[Line], rng: random.Random) -> bytes:
    """Return a log whose checksums are right, whatever it says; at times with some bytes changed after all."""
    place, data = Place(), b""
    for line in lines:
        text, place = sealed({key: value for key, value in line.items() if key != "crc"}, place)
        data += text
    if data and rng.random() < 0.1:
        at = rng.randrange(len(data))
        data = data[:at] + rng.choice([b"", b"\0", b"\n", b"\xff", rng.randbytes(9)]) + data[at + rng.randrange(3) :]
    return data


def verdict(path: Path) -> str:
    """Take a log up and look at it."""
    try:
        opt = eq.resume(path)
    except GivenAgainError:
        return "part to be given again"
    except eq.LogError:
        return "refused"
    except BaseException as error:  # anything else is what must not be
        return f"WRONG {type(error).__name__}: {str(error)[:200]}"
    try:
        opt.records()
        opt.recommend()
    except (RuntimeError, TypeError, ValueError) as error:
        return f"read, but no answer: {type(error).__name__}"
    except BaseException as error:
        return f"WRONG answer {type(error).__name__}: {str(error)[:200]}"
    return "read"


def fuzz(mutations: int, seed: int, folder: Path) -> tuple[Counter[str], float]:
    """Return the outcome of this many mutated logs, and the most CPU seconds that one took."""
    rng, found, slowest = random.Random(seed), Counter[str](), 0.0
    stored = folder / "stored"
    stored.mkdir()
    logs, path, files = sources(stored), folder / "mutated.jsonl", set()
    for _ in range(mutations):
        data = written(mutate(rng.choice(logs), rng), rng)
        path.write_bytes(data)
        start = time.process_time()
        what = verdict(path)
        slowest = max(slowest, time.process_time() - start)
        if what.startswith("WRONG"):
            (folder / f"wrong-{sum(found.values())}.jsonl").write_bytes(data)
        found[what] += 1
        files |= {file.name for file in folder.iterdir()}
    strange = {name for name in files if not name.startswith(("stored", "mutated.jsonl", "wrong-"))}
    found.update({f"WRONG file {name}": 1 for name in strange})
    return found, slowest


def main() -> None:
    mutations, seed = (int(word) for word in [*sys.argv[1:], *("100000", "0")[len(sys.argv) - 1 :]])
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    limit = 3 * 2**30  # Python, NumPy and SciPy map about two
    resource.setrlimit(resource.RLIMIT_AS, (limit, resource.getrlimit(resource.RLIMIT_AS)[1]))
    start = time.perf_counter()
    with tempfile.TemporaryDirectory() as name:
        os.chdir(name)
        found, slowest = fuzz(mutations, seed, Path(name))
    for what, times in found.most_common():
        print(f"{times:8} {what}")
    print(f"{mutations} logs in {time.perf_counter() - start:.0f} s, the slowest in {slowest:.2f} s of CPU")
    sys.exit(any(what.startswith("WRONG") for what in found))


if __name__ == "__main__":
    main()
