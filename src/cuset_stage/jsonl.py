"""Read and append JSONL files that grow while a program runs and may be cut off at any byte. Standard library only.

A file is a sequence of JSON objects, one per line. Writers append whole lines, but a process that is killed can leave
a last line without its line end. Readers leave such a line out and log a warning. Writers remove it before they
append.
"""

import codecs
import fcntl
import json
import logging
import os
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from .text import InputError, shown


logger = logging.getLogger(__name__)

GZIP = b"\x1f\x8b"  # how a compressed file begins
TOO_DEEP = "lists or objects within each other so deep that Python gives up; expected a few levels"


class LinesError(InputError):
    """A line is not a JSON object, or the file cannot be read or written. The message names the file and the line."""


def read_objects(path: Path, *, torn: bool = True) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the line number (from 1) and the object of each line. Empty lines are skipped.

    Args:
        path: the JSONL file.
        torn: whether to leave out a last line that was cut off, with a warning, as in a file that grows. If false,
            such a line is an error like any other.

    Raises:
        LinesError: if the file cannot be read or a line is not a JSON object. The message names the file and the line.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise LinesError(f"cannot read {path}: {error.strerror}.") from None
    if data.startswith(GZIP):
        raise LinesError(f"{path}: compressed by gzip; unpack it (gunzip), and give the file that this makes.")
    lines = data.split(b"\n")
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            record = json.loads(line.decode("utf-8-sig"))  # decoded here, because json guesses the encoding of bytes
        except (ValueError, RecursionError) as error:  # bytes that are not UTF-8 give a ValueError too
            if torn and number == len(lines) and is_torn(data[:4], line, error):
                logger.warning("%s:%d: the last line was cut off while it was written; it is left out.", path, number)
                return
            problem = TOO_DEEP if isinstance(error, RecursionError) else f"not JSON ({error})"
            raise LinesError(f"{path}:{number}: {problem}; expected one JSON object a line, in UTF-8.") from None
        if not isinstance(record, dict):
            raise LinesError(f"{path}:{number}: {type(record).__name__}; expected one JSON object a line.")
        yield number, record


def is_torn(start: bytes, line: bytes, error: Exception) -> bool:
    """Return whether a last line was cut off while it was written.

    Only the beginning of an object, or the zeros that a file system leaves after a power failure, in a file of objects
    is. Any other file was given by mistake. `start` has its first bytes, of which a byte-order mark does not count, and
    `error` says why the line is not JSON.
    """
    return (
        start.removeprefix(codecs.BOM_UTF8)[:1] == b"{"
        and line[:1] in (b"{", b"\0")
        and getattr(error, "msg", "") != "Extra data"
    )


def read_rows(path: Path) -> list[dict[str, Any]]:
    """Return the rows of a data file, which is a JSON list of objects or has one object per line.

    Raises:
        LinesError: if the file cannot be read, holds something else, or has no rows.
    """
    try:
        text = path.read_text(encoding="utf-8")
        is_list = text.lstrip("\ufeff \t\r\n").startswith("[")
        rows = json.loads(text) if is_list else [row for _, row in read_objects(path, torn=False)]
    except OSError as error:
        raise LinesError(f"cannot read {path}: {error.strerror}.") from None
    except LinesError:
        if keys := _keys_of_one_object(text):
            is_object = f"it is one object, with the keys {', '.join(keys[:5])}"
            raise LinesError(f"{path}: {is_object}; expected a list of objects, or one object a line.") from None
        raise
    except (json.JSONDecodeError, UnicodeDecodeError, RecursionError) as error:
        form = "a list of objects in UTF-8 without a byte-order mark, or one object a line"
        where = str(path)
        if isinstance(error, UnicodeDecodeError):  # a JSONDecodeError names its line itself
            line = error.object.count(b"\n", 0, error.start) + 1
            where += f":{line}"
        raise LinesError(f"{where}: not JSON ({error}); expected {form}.") from None
    wrong = [f"row {number} is {shown(row)}" for number, row in enumerate(rows, start=1) if not isinstance(row, dict)]
    if wrong or not rows:
        raise LinesError(f"{path}: {[*wrong, 'no rows'][0]}; expected a list of objects, or one object a line.")
    return rows


def _keys_of_one_object(text: str) -> list[str]:
    """Return the keys of the object that a text is as a whole, such as a dataset_info.json, else an empty list."""
    try:
        whole = json.loads(text)
    except (ValueError, RecursionError):
        return []
    return list(whole) if isinstance(whole, dict) else []


def to_line(record: Mapping[str, Any]) -> str:
    """Return the record as one line, with its line end.

    Raises:
        ValueError: for NaN and infinity, which JSON does not have.
    """
    line = json.dumps(record, ensure_ascii=False, allow_nan=False)
    try:
        line.encode()
    except UnicodeEncodeError:  # a lone surrogate, which UTF-8 cannot encode and JSON can escape
        line = json.dumps(record, allow_nan=False)
    return line + "\n"


class Appender(AbstractContextManager["Appender"]):
    """Append objects to a JSONL file, each in one write that is flushed to the disk. Use it as a context manager.

    Opening makes the folder and the file, locks the file, so that two processes never append to the same one, and
    removes a torn last line.

    Raises:
        LinesError: if another process is writing to the file, or if it cannot be opened.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._handle = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o666)
        except OSError as error:
            raise LinesError(f"cannot write {path}: {error.strerror}.") from None
        try:
            fcntl.flock(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(self._handle)
            raise LinesError(f"{path}: another process is writing to it; wait for it, or give another file.") from None
        except OSError as error:  # a file system without locks
            logger.warning("%s cannot be locked (%s): start one process at a time for it.", path, error.strerror)
        self._repair()

    def append(self, record: Mapping[str, Any]) -> None:
        """Append one object.

        Raises:
            LinesError: if writing fails, for example because the disk is full. What was written of the object is
                removed. Also if the file was removed, or an editor put another in its place: nobody would find the
                object in what is left of the one that was opened.
        """
        line = to_line(record).encode()
        status = os.fstat(self._handle)
        if status.st_nlink == 0 and not (self.path.exists() and os.path.samestat(status, self.path.stat())):
            what = "removed or replaced while this command was writing to it, so it stops"
            raise LinesError(
                f"{self.path}: {what}. Run the command again, and it goes on in the file that is there now."
            )
        size = status.st_size
        try:
            written = 0
            while written < len(line):
                written += os.write(self._handle, line[written:])
            os.fsync(self._handle)
        except OSError as error:
            os.ftruncate(self._handle, size)
            raise LinesError(f"cannot write {self.path}: {error.strerror}. What was written before is kept.") from None

    def close(self) -> None:
        """Close the file and release its lock."""
        os.close(self._handle)

    def __exit__(self, *error: object) -> None:
        self.close()

    def _repair(self) -> None:
        """Make the file end with a whole line: remove a torn last line, or add a missing line end."""
        size = end = os.fstat(self._handle).st_size
        tail = b""
        while end and b"\n" not in tail:  # read backwards from the end, because the file may be large
            step = min(end, 1 << 16)
            end -= step
            tail = os.pread(self._handle, step, end) + tail
        line = tail[tail.rfind(b"\n") + 1 :]
        if not line or os.pread(self._handle, 2, 0) == GZIP:  # readers refuse it
            return
        try:
            json.loads(line)
        except (ValueError, RecursionError) as error:
            if is_torn(os.pread(self._handle, 4, 0), line, error):
                os.ftruncate(self._handle, size - len(line))
                logger.warning("%s: the last line was cut off while it was written; it is removed.", self.path)
                return
        os.write(self._handle, b"\n")
