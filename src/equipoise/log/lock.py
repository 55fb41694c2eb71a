"""A lock between processes, on a separate file or on the very file it protects.

The operating system holds it (`flock`, on Windows `msvcrt.locking`), so it vanishes with its process: a lock can never
be left over from a crash. A separate file also says who held it last, process and host, for people; one that is not
ours is never written to. A lock on the protected file itself holds whatever name the file is reached by.
"""

import os
import platform
import stat
import sys
import time
import weakref
from contextlib import suppress
from io import FileIO
from pathlib import Path

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

NOTE = 80
"""Bytes of the note about the holder; the lock itself is on the byte before it, which Windows forbids to read."""

NOTE_BEGINS = b"process "


class LockTimeoutError(OSError):
    """Another process did not give the lock up in time."""


class ForeignFileError(OSError):
    """The file to lock is not a lock file of ours."""


class FileLock:
    """Lets one process at a time into a `with` block; also one object, and one thread, at a time.

    Args:
        path: The file to lock.
        timeout: How many seconds to wait for another process.
        own: Whether the file serves the lock alone: it is created if missing, never removed, and names
            its holder. Else it is a file to be read and appended to, through `file`, while it is locked.

    Attributes:
        file: The locked file; `None` if it is not locked.

    Example:
        >>> import tempfile
        >>> lock = FileLock(Path(tempfile.mkdtemp()) / "study.jsonl.lock")
        >>> with lock:
        ...     lock.holder() == f"process {os.getpid()} on {platform.node()}"
        True
    """

    def __init__(self, path: Path, timeout: float = 60.0, *, own: bool = True) -> None:
        self.path = path
        self.timeout = timeout
        self.own = own
        self.file: FileIO | None = None
        _locks.add(self)

    def acquire(self) -> None:
        """Wait for the lock and take it; on any error, or an interrupt, it is not taken."""
        try:
            self._wait()
            if self.own:
                self._sign()
        except BaseException:
            self.release()
            raise

    def release(self) -> None:
        """Release the lock, if it is held."""
        file = self.file
        if file is not None and not file.closed:
            with suppress(OSError):  # a child process may have inherited the open file: closing it is not enough
                _unlock(file)
            file.close()
        self.file = None

    def forget(self) -> None:
        """Leave the lock to the process that this one was forked from."""
        if self.file is not None:
            self.file.close()
        self.file = None

    def __enter__(self) -> None:
        self.acquire()

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        self.release()

    def holder(self) -> str:
        """Return who holds the lock, or held it last."""
        if not self.own:
            return "another process, which reaches the file by another name"
        with suppress(OSError), self.path.open("rb", buffering=0) as file:
            file.seek(1)
            return file.read(NOTE).decode(errors="replace").strip() or "nobody"
        return "nobody"

    def _wait(self) -> None:
        deadline, pause = time.monotonic() + self.timeout, 0.0005
        while not self._attempt():
            if time.monotonic() > deadline:
                raise LockTimeoutError(f"locked for more than {self.timeout:g} s by {self.holder()}")
            time.sleep(pause)
            pause = min(2 * pause, 0.02)

    def _attempt(self) -> bool:
        """Lock the file, opened again; return whether no other process has it.

        A child process that inherited the open file would share its lock.
        """
        self.file = FileIO(self.path, "r+", opener=_to_lock if self.own else _to_append)
        with suppress(BlockingIOError, FileNotFoundError):
            _lock(self.file, self.own)
            if os.path.samestat(os.fstat(self.file.fileno()), os.stat(self.path)):  # else it was replaced meanwhile
                return True
        self.release()
        return False

    def _sign(self) -> None:
        """Note the holder, unless it held the lock last: an `fsync` of another file may have to wait for this one."""
        assert self.file is not None
        self.file.seek(1)
        found, note = self.file.read(NOTE + 1), f"process {os.getpid()} on {platform.node()}\n".encode()
        empty = os.fstat(self.file.fileno()).st_size == 0
        if not empty and (len(found) > NOTE or not found.startswith(NOTE_BEGINS)):
            raise ForeignFileError(f"{self.path} is a file of another program, which would lock this one")
        if found != note.ljust(NOTE)[:NOTE]:
            self.file.seek(1)
            self.file.write(note.ljust(NOTE)[:NOTE])


_locks: "weakref.WeakSet[FileLock]" = weakref.WeakSet()


def _forget_all() -> None:
    for lock in list(_locks):
        lock.forget()


if hasattr(os, "register_at_fork"):  # a child must not share the locks of its parent
    os.register_at_fork(after_in_child=_forget_all)


def _to_lock(path: str, flags: int) -> int:
    if os.path.exists(path) and not stat.S_ISREG(os.stat(path).st_mode):
        raise ForeignFileError(f"{path} is not a regular file")
    return os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o666)


def _to_append(path: str, flags: int) -> int:
    return os.open(path, os.O_RDWR | os.O_APPEND | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0))


if sys.platform == "win32":

    def _lock(file: FileIO, own: bool) -> None:
        if not own:  # the lock would keep readers out, too
            return
        file.seek(0)
        try:
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        except PermissionError as error:
            raise BlockingIOError from error

    def _unlock(file: FileIO) -> None:
        file.seek(0)
        msvcrt.locking(file.fileno(), msvcrt.LK_UNLCK, 1)

else:

    def _lock(file: FileIO, own: bool) -> None:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def _unlock(file: FileIO) -> None:
        fcntl.flock(file, fcntl.LOCK_UN)
