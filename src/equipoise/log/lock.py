"""A lock between processes, on a file of its own beside the one it protects.

The operating system holds it (`flock`, on Windows `msvcrt.locking`), so it vanishes with its process: a lock can never
be left over from a crash. What the file says, process and host of the last holder, is for people.
"""

import os
import socket
import sys
import time
from contextlib import suppress
from pathlib import Path

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

NOTE = 80
"""Bytes of the note about the holder; the lock itself is on the byte before it, which Windows forbids to read."""


class LockTimeoutError(OSError):
    """Another process did not give the lock up in time."""


class FileLock:
    """Lets one process at a time into a `with` block; also one object, and one thread, at a time.

    Args:
        path: The file to lock; created where it is missing, and never removed.
        timeout: How many seconds to wait for another process.

    Example:
        >>> import tempfile
        >>> lock = FileLock(Path(tempfile.mkdtemp()) / "study.jsonl.lock")
        >>> with lock:
        ...     lock.holder() == f"process {os.getpid()} on {socket.gethostname()}"
        True
    """

    def __init__(self, path: Path, timeout: float = 60.0) -> None:
        self.path = path
        self.timeout = timeout
        self._handle: int | None = None

    def acquire(self) -> None:
        """Wait for the lock and take it."""
        deadline, pause = time.monotonic() + self.timeout, 0.0005
        while (handle := self._attempt()) is None:
            if time.monotonic() > deadline:
                raise LockTimeoutError(f"locked for more than {self.timeout:g} s by {self.holder()}")
            time.sleep(pause)
            pause = min(2 * pause, 0.02)
        self._handle = handle
        _sign(handle, f"process {os.getpid()} on {socket.gethostname()}\n".encode().ljust(NOTE)[:NOTE])

    def release(self) -> None:
        """Give the lock up."""
        handle, self._handle = self._handle, None
        if handle is not None:
            _unlock(handle)
            os.close(handle)

    def __enter__(self) -> None:
        self.acquire()

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        self.release()

    def holder(self) -> str:
        """Return who holds the lock, or held it last."""
        with suppress(OSError), self.path.open("rb", buffering=0) as file:
            file.seek(1)
            return file.read(NOTE).decode(errors="replace").strip() or "nobody"
        return "nobody"

    def _attempt(self) -> int | None:
        """Return the locked file, or `None` where another process has it.

        Opened anew each time: a child process that inherited the open file would share its lock.
        """
        handle = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            _lock(handle)
            if os.path.samestat(os.fstat(handle), os.stat(self.path)):  # else it was removed before we had it
                return handle
        except (BlockingIOError, FileNotFoundError):
            pass
        except BaseException:
            os.close(handle)
            raise
        os.close(handle)
        return None


def _sign(handle: int, note: bytes) -> None:
    """Note the holder, unless it held the lock last: an `fsync` of another file may have to wait for this one."""
    os.lseek(handle, 1, os.SEEK_SET)
    if os.read(handle, NOTE) != note:
        os.lseek(handle, 1, os.SEEK_SET)
        os.write(handle, note)


if sys.platform == "win32":

    def _lock(handle: int) -> None:
        os.lseek(handle, 0, os.SEEK_SET)
        try:
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        except PermissionError as error:
            raise BlockingIOError from error

    def _unlock(handle: int) -> None:
        os.lseek(handle, 0, os.SEEK_SET)
        msvcrt.locking(handle, msvcrt.LK_UNLCK, 1)

else:

    def _lock(handle: int) -> None:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def _unlock(handle: int) -> None:
        fcntl.flock(handle, fcntl.LOCK_UN)
