r"""An append-only file of JSON objects, one per line, that survives a power cut.

Each line ends with a checksum of itself and, through the line before, of everything above it. So a line that was
changed, lost or doubled is noticed. A line counts once its last byte, the newline, is on the disk: the next writer
removes an incomplete line that a crash has left. Several processes may write in turn: each locks the file, reads the
new lines, and appends.

The content of a file is data and is never trusted: lines have a bounded length, and an unreadable one is a `LogError`.
"""

import errno
import json
import os
import secrets
import stat
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from io import BufferedReader, FileIO
from pathlib import Path
from typing import Any, NoReturn

from equipoise.log.lock import FileLock

SEAL = len(b',"crc":"01234567"}')

MAX_LINE = 2**24
"""Longest line, in bytes: 100,000 points of a finite set make about 4 MB."""


class LogError(RuntimeError):
    """The log of a study could not be written, locked or understood; the message names the file and the cause."""


class TornLine(UserWarning):
    """The last line of a log was cut off by a crash and has been removed; every complete event is kept."""


@dataclass(frozen=True, slots=True)
class Place:
    """A place between two lines: how many bytes and lines lie before it, and their checksum."""

    bytes: int = 0
    lines: int = 0
    crc: int = 0


def sealed(content: Mapping[str, Any], before: Place) -> tuple[bytes, Place]:
    """Return the line for a JSON object, with its newline, and the place after it."""
    text = json.dumps(content, separators=(",", ":"), ensure_ascii=False, allow_nan=False)[:-1]
    body = text.encode("utf-8", "backslashreplace")  # half a surrogate pair becomes the JSON escape for it
    crc = zlib.crc32(body, before.crc)
    line = body + _seal(crc)
    return line, Place(before.bytes + len(line), before.lines + 1, crc)


def opened(line: bytes, before: Place) -> tuple[dict[str, Any], Place]:
    """Return the JSON object of a line, with its newline, and the place after it; refuse a damaged one."""
    body, seal = line[: -SEAL - 1], line[-SEAL - 1 :]
    crc = zlib.crc32(body, before.crc)
    if not seal.startswith(_seal(0)[:8]):
        raise ValueError("it has no checksum: it was changed, or this file is not the log of a study")
    if seal != _seal(crc):
        raise ValueError("its checksum is wrong: it was changed, or lines before it were changed, lost or doubled")
    try:
        content = _DECODER.decode((body + b"}").decode())
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    return content, Place(before.bytes + len(line), before.lines + 1, crc)


class Lines:
    """The file, and the place up to which this process knows it.

    Args:
        path: The file; links are followed once, here.
        timeout: How many seconds to wait for another process that has it locked.

    Example:
        >>> import tempfile
        >>> path = Path(tempfile.mkdtemp()) / "study.jsonl"
        >>> ours, theirs = Lines.create(path, {"equipoise": 1}), Lines(path)
        >>> [content for content, _ in theirs.news()]
        [{'equipoise': 1}]
        >>> theirs.lock()
        >>> theirs.known = theirs.append({"tell": 0, "value": 0.83})
        >>> theirs.unlock()
        >>> [content for content, _ in ours.news()]
        [{'tell': 0, 'value': 0.83}]
    """

    def __init__(self, path: str | os.PathLike[str], timeout: float = 60.0) -> None:
        self.path = Path(os.path.realpath(path))
        self.known = Place()
        self._lock = FileLock(self.path.with_name(self.path.name + ".lock"), timeout)
        self._inode = FileLock(self.path, timeout, own=False)

    @classmethod
    def create(cls, path: str | os.PathLike[str], first: Mapping[str, Any]) -> "Lines":
        """Make the file with its first line: the whole of it or, on any error, nothing."""
        new = cls(path)
        line, place = sealed(first, Place())
        with new._explained("created"):
            new._must_be_new()  # before a lock is made beside a path that is not a file
            with new._lock:
                new._must_be_new()
                if new.path.exists():
                    new._fill(line)
                else:
                    _born(new.path, line)
                _sync_directory(new.path.parent)
        new.known = place
        return new

    def news(self) -> Iterator[tuple[dict[str, Any], Place]]:
        """Yield each line behind the known place, and the place after it, which then becomes known."""
        with self._explained("read"), self._at_known() as file:
            while (line := file.readline(MAX_LINE + 1)).endswith(b"\n"):
                if b"\0" in line and _only_zeros(file):
                    return
                try:
                    content, place = opened(line, self.known)
                except ValueError as error:
                    raise self.damaged(error) from None
                yield content, place
                self.known = place
            if len(line) > MAX_LINE:
                raise self.damaged(f"it is longer than {MAX_LINE} bytes")

    def first(self) -> dict[str, Any] | None:
        """Return the first line, which becomes known; `None` if no line is complete."""
        for content, place in self.news():
            self.known = place
            return content
        return None

    @property
    def torn(self) -> bool:
        """True if data follow the known place: once all news are known, a torn or incomplete line."""
        return bool(self._rest())

    @property
    def lacks_newline(self) -> bool:
        """True if the known place is followed by a line that lacks only its newline."""
        return _is_line(self._rest() + b"\n", self.known)

    def lock(self) -> None:
        """Keep all other processes out, until `unlock`: by the name of the file, and by the file itself."""
        with self._explained("locked"):
            self._lock.acquire()
        with self._explained("opened"):
            self._inode.acquire()

    def unlock(self) -> None:
        """Let others in again, if it is locked."""
        self._inode.release()
        self._lock.release()

    def mend(self) -> TornLine | None:
        """Remove a last line that a crash left incomplete, or add its newline if only that is missing.

        Call it with the file locked and all news known. It keeps an incomplete first line: the file may not be ours.

        Returns:
            A notice for the user, if something was removed.
        """
        torn, notice = self._rest(), None
        if not torn or not (self.known.lines or _is_line(torn + b"\n", self.known)):
            return None
        with self._explained("mended"):
            file = self._locked
            if _is_line(torn + b"\n", self.known):
                _write(file, b"\n")
            else:
                removed = _size(file) - self.known.bytes
                file.truncate(self.known.bytes)
                where = f"{self.path}, line {self.known.lines + 1}"
                notice = TornLine(f"{where} was torn by a crash: {removed} bytes were removed")
            os.fsync(file.fileno())
        return notice

    def append(self, *contents: Mapping[str, Any]) -> Place:
        """Put lines on the disk, all or none; return the place after them. On any error the file stays as it was."""
        place, data = self.known, b""
        for content in contents:
            line, place = sealed(content, place)
            if len(line) > MAX_LINE:
                raise LogError(f"{self.path} must have lines of at most {MAX_LINE} bytes, got one of {len(line)}")
            data += line
        with self._explained("written"):
            file = self._locked
            self._must_end_at(self.known)
            try:
                _write(file, data)
                os.fsync(file.fileno())
            except BaseException as error:
                if isinstance(error, OSError) or _size(file) < place.bytes:  # interrupted lines that are whole count
                    with suppress(OSError):
                        file.truncate(self.known.bytes)
                raise
            self._must_end_at(place)
        return place

    def damaged(self, why: object) -> LogError:
        """Return the error to raise if the first unknown line is invalid."""
        return LogError(f"{self.path}, line {self.known.lines + 1} is damaged: {why}")

    def _must_be_new(self) -> None:
        """Refuse an existing file, unless it is empty."""
        if not os.path.lexists(self.path):
            return
        self._must_be_file()
        if self.path.stat().st_size:
            advice = "continue its study with `resume`, in a shell with `ask`"
            raise LogError(f"{self.path} must be a new file, but it is not empty: {advice}")

    def _must_be_file(self) -> None:
        if not stat.S_ISREG(self.path.stat().st_mode):
            raise LogError(f"{self.path} must be a regular file, but it is a directory, a device or the like")

    def _must_end_at(self, place: Place) -> None:
        if _size(self._locked) != place.bytes:
            raise LogError(f"{self.path} was changed by something that did not lock it")

    def _fill(self, line: bytes) -> None:
        """Write the first line into a file that is there and empty: it may have another name, or be mounted."""
        with self._inode:
            file = self._locked
            self._must_end_at(Place())
            try:
                _write(file, line)
                os.fsync(file.fileno())
            except BaseException:
                file.truncate(0)
                raise

    @property
    def _locked(self) -> FileIO:
        """The file, which must be locked."""
        if self._inode.file is None:
            raise RuntimeError("the file must be locked")
        return self._inode.file

    def _rest(self) -> bytes:
        """Return the bytes behind the known place, at most one more than a line can have."""
        with self._explained("read"), self._at_known() as file:
            return file.read(MAX_LINE + 1)

    def _at_known(self) -> BufferedReader:
        """Return the file, opened at the known place; refuse a file that differs from the known part."""
        self._must_be_file()
        locked = self._inode.file
        file = open(self.path, "rb") if locked is None else open(locked.fileno(), "rb", closefd=False)  # noqa: SIM115
        try:
            size, known = _size(file), self.known
            if size < known.bytes:
                raise LogError(f"{self.path} is shorter than it was: {size} bytes, {known.bytes} had been read")
            file.seek(max(known.bytes - SEAL - 1, 0))
            if known.lines and file.read(SEAL + 1) != _seal(known.crc):
                raise LogError(f"{self.path} is not the file that was read before: it was replaced or changed")
        except BaseException:
            file.close()
            raise
        return file

    @contextmanager
    def _explained(self, done: str) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise LogError(f"{self.path} could not be {done}: {error.strerror or error}") from error


def _seal(crc: int) -> bytes:
    return b',"crc":"%08x"}\n' % crc


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"it holds {name}, which is not a number")


_DECODER = json.JSONDecoder(parse_constant=_no_number)


def _size(file: FileIO | BufferedReader) -> int:
    return os.fstat(file.fileno()).st_size


def _only_zeros(file: BufferedReader) -> bool:
    """Return whether only zeros follow: a file system reserves space that was never written."""
    while (line := file.readline(MAX_LINE)).endswith(b"\n"):
        if b"\0" not in line:
            return False
    return True


def _is_line(line: bytes, before: Place) -> bool:
    with suppress(ValueError):
        opened(line, before)
        return True
    return False


def _write(file: FileIO, data: bytes) -> None:
    while data:
        data = data[file.write(data) :]


def _born(path: Path, line: bytes) -> None:
    """Create a file that has its first line from the beginning."""
    fresh = path.with_name(f".equipoise-{secrets.token_hex(8)}")
    try:
        try:
            with fresh.open("xb", buffering=0) as file:
                _write(file, line)
                os.fsync(file.fileno())
            _rename(fresh, path)
        finally:
            fresh.unlink(missing_ok=True)
    except BaseException:
        fresh.unlink(missing_ok=True)  # an interrupt may have come in the line above
        raise


def _rename(fresh: Path, path: Path) -> None:
    """Give a file its name, unless another file was quicker."""
    try:
        os.link(fresh, path)
    except OSError as error:
        if error.errno not in (errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS):
            raise
        fresh.replace(path)  # a file system without links


def _sync_directory(directory: Path) -> None:
    """Make sure that the directory knows its new file, if the system can."""
    with suppress(OSError):
        handle = os.open(directory, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
