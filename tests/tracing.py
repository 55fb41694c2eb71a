"""Which of our source files a piece of work runs through."""

import inspect
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import equipoise

SOURCE = Path(equipoise.__file__).parent


def files_run(work: Callable[[], object]) -> dict[str, int]:
    """Return the lines of each source file in which `work` runs a function, by the file's path below the package.

    Importing a module is not running it. A profiler is used rather than a tracer, which measuring coverage needs.
    """
    codes = set()

    def called(frame, event, _):
        if event == "call" and frame.f_code.co_flags & inspect.CO_OPTIMIZED:  # a function's, not a module's or class's
            codes.add(frame.f_code.co_filename)

    before = sys.getprofile()
    sys.setprofile(called)
    threading.setprofile(called)  # in threads that begin meanwhile
    try:
        work()
    finally:
        sys.setprofile(before)
        threading.setprofile(None)
    paths = sorted(Path(code) for code in codes if code.startswith(str(SOURCE)))
    return {str(path.relative_to(SOURCE)): len(path.read_text(encoding="utf-8").splitlines()) for path in paths}


if __name__ == "__main__":  # the paper's path: python tests/tracing.py
    from test_house import the_papers_path

    table = the_papers_path()
    print(*(f"{lines:5d} {path}" for path, lines in table.items()), f"{sum(table.values()):5d} {len(table)}", sep="\n")
