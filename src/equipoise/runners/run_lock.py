"""One measuring loop per worker: a second loop would treat the first loop's open trials as abandoned."""

import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

from equipoise.log import FileLock, LockTimeoutError

LONGEST_NAME = 100
"""Maximum length in bytes of a worker's name that is used in a file name."""


@contextmanager
def only_one(study: Path, worker: str | None) -> Iterator[None]:
    """Refuse a second run of the same worker, which would treat the first one's open trials as abandoned."""
    study = Path(os.path.realpath(study))
    lock = FileLock(study.with_name(f"{study.name}.run{file_name(worker)}"), timeout=0.0)
    try:
        lock.acquire()
    except LockTimeoutError as error:
        message = f"another run is active, by {lock.holder()}: give this one its own --worker"
        raise RuntimeError(message) from error
    except OSError as error:
        raise RuntimeError(f"{lock.path} could not be written: {error.strerror or error}") from error
    try:
        yield
    finally:
        lock.path.unlink(missing_ok=True)
        lock.release()


def file_name(worker: str | None) -> str:
    """Return the part of a file name that identifies a worker uniquely."""
    if worker is None:
        return ""
    name = quote(worker, safe="", errors="backslashreplace")
    return "-" + (name if len(name) <= LONGEST_NAME else hashlib.sha256(name.encode()).hexdigest())
