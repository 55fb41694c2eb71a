r"""An append-only file of JSON objects, one a line, that survives a power cut.

Each line ends with a checksum of itself and, through the line before, of everything above it. So a line that was
changed, lost or doubled is noticed. A line counts once its last byte, the newline, is on the disk: what a crash has
left of a line after the last newline never happened, and is cut off by whoever writes next. Several processes may
write in turn: each locks the file, reads what is new, and appends.
"""

import json
import os
import warnings
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from io import FileIO
from pathlib import Path
from typing import Any

from equipoise.log.lock import FileLock

SEAL = len(b',"crc":"01234567"}')


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
    line = body + b',"crc":"%08x"}\n' % crc
    return line, Place(before.bytes + len(line), before.lines + 1, crc)


def opened(line: bytes, before: Place) -> tuple[dict[str, Any], Place]:
    """Return the JSON object of a line, with its newline, and the place after it; refuse a damaged one."""
    body, seal = line[: -SEAL - 1], line[-SEAL - 1 :]
    crc = zlib.crc32(body, before.crc)
    if seal != b',"crc":"%08x"}\n' % crc:
        raise ValueError("its checksum is wrong: it was changed, or lines before it were changed, lost or doubled")
    content = json.loads(body + b"}")
    return content, Place(before.bytes + len(line), before.lines + 1, crc)


class Lines:
    """The file, and the place up to which this process knows it.

    Args:
        path: The file.
        timeout: How many seconds to wait for another process that has it locked.

    Example:
        >>> import tempfile
        >>> path = Path(tempfile.mkdtemp()) / "study.jsonl"
        >>> Lines.create(path, {"equipoise": 1})
        >>> ours, theirs = Lines(path), Lines(path)
        >>> [content for content, _ in ours.news()]
        [{'equipoise': 1}]
        >>> theirs.lock()
        >>> seen = [content for content, _ in theirs.news()]
        >>> theirs.known = theirs.append({"tell": 0, "value": 0.83})
        >>> theirs.unlock()
        >>> [content for content, _ in ours.news()]
        [{'tell': 0, 'value': 0.83}]
    """

    def __init__(self, path: str | os.PathLike[str], timeout: float = 60.0) -> None:
        self.path = Path(path)
        self.known = Place()
        self._lock = FileLock(self.path.with_name(self.path.name + ".lock"), timeout)

    @classmethod
    def create(cls, path: str | os.PathLike[str], first: Mapping[str, Any]) -> None:
        """Make the file with its first line: the whole of it or, on any error, nothing."""
        new = cls(path)
        fresh = new.path.with_name(new.path.name + ".new")
        with new._explained("created"), new._lock:
            if new.path.exists() and new.path.stat().st_size:
                raise LogError(f"{new.path} must be a new file, but it is not empty: use resume to continue a study")
            try:
                with fresh.open("wb") as file:
                    file.write(sealed(first, Place())[0])
                    file.flush()
                    os.fsync(file.fileno())
                fresh.replace(new.path)
            finally:
                fresh.unlink(missing_ok=True)
            _sync_directory(new.path.parent)

    def news(self) -> Iterator[tuple[dict[str, Any], Place]]:
        """Yield what lies behind the known place: each line, and the place after it, which then becomes known."""
        for line in _complete(self._unknown()):
            try:
                content, place = opened(line, self.known)
            except ValueError as error:
                raise self.damaged(error) from None
            yield content, place
            self.known = place

    @property
    def torn(self) -> bool:
        """Whether something lies behind the known place: once all news are known, a line torn or not yet complete."""
        return bool(self._unknown())

    def lock(self) -> None:
        """Keep all other processes out, until `unlock`."""
        with self._explained("locked"):
            self._lock.acquire()

    def unlock(self) -> None:
        """Let others in again."""
        self._lock.release()

    def mend(self) -> None:
        """Cut off what a crash has left of a line, or give the line its newline where nothing else is missing.

        To be called with the file locked and all news known.
        """
        torn = self._unknown()
        if not torn:
            return
        with self._explained("mended"), self.path.open("r+b", buffering=0) as file:
            if _is_line(torn + b"\n", self.known):
                file.seek(0, os.SEEK_END)
                _write(file, b"\n")
            else:
                file.truncate(self.known.bytes)
                what = f"{self.path}, line {self.known.lines + 1} was torn by a crash: {len(torn)} bytes were removed"
                warnings.warn(what, TornLine, stacklevel=6)
            os.fsync(file.fileno())

    def append(self, content: Mapping[str, Any]) -> Place:
        """Put a line on the disk and return the place after it; on any error the file stays as it was."""
        line, place = sealed(content, self.known)
        with self._explained("written"), self.path.open("r+b", buffering=0) as file:
            if file.seek(0, os.SEEK_END) != self.known.bytes:
                raise LogError(f"{self.path} was changed by something that did not lock it")
            try:
                _write(file, line)
                os.fsync(file.fileno())
            except OSError:
                with suppress(OSError):
                    file.truncate(self.known.bytes)
                raise
        return place

    def damaged(self, why: object) -> LogError:
        """Return the error to raise where the first unknown line makes no sense."""
        return LogError(f"{self.path}, line {self.known.lines + 1} is damaged: {why}")

    def _unknown(self) -> bytes:
        """Return the bytes behind the known place."""
        with self._explained("read"):
            size = self.path.stat().st_size
            if size < self.known.bytes:
                raise LogError(f"{self.path} is shorter than it was: {size} bytes, {self.known.bytes} had been read")
            if size == self.known.bytes:
                return b""
            with self.path.open("rb") as file:
                file.seek(self.known.bytes)
                return file.read()

    @contextmanager
    def _explained(self, done: str) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise LogError(f"{self.path} could not be {done}: {error.strerror or error}") from error


def _complete(data: bytes) -> list[bytes]:
    """Return the complete lines; a last one with zeros in it was never written, though its place was reserved."""
    lines = [line + b"\n" for line in data.split(b"\n")[:-1]]
    if lines and b"\0" in lines[-1]:
        lines.pop()
    return lines


def _is_line(line: bytes, before: Place) -> bool:
    with suppress(ValueError):
        opened(line, before)
        return True
    return False


def _write(file: FileIO, data: bytes) -> None:
    while data:
        data = data[file.write(data) :]


def _sync_directory(directory: Path) -> None:
    """Make sure that the directory knows its new file, where the system can."""
    with suppress(OSError):
        handle = os.open(directory, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
