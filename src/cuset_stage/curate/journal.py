"""Results that survive `kill -9`: a result is one line, appended and synced, and the files themselves are the journal.

There is no second file that says what the first one holds, so the two cannot disagree. A line that was torn by the end of the
process is cut off when the journal is opened again, and its row is done once more.
"""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import time
from collections import Counter
from pathlib import Path
from typing import Any

from .stage_rows import CurationError, dumps


_START = re.compile(rb'\{"key": "([0-9a-f]{32})"(?:, "reason": "([a-z0-9_]{1,60})")?')


def repair(path: Path) -> int:
    """Cut a torn last line off; return the number of bytes that went."""
    if not path.exists():
        return 0
    with path.open("r+b") as stream:
        size = end = stream.seek(0, os.SEEK_END)
        while end:
            start = max(0, end - 65536)
            stream.seek(start)
            newline = stream.read(end - start).rfind(b"\n")
            if newline >= 0:
                end = start + newline + 1
                break
            end = start
        if end < size:
            stream.truncate(end)
            os.fsync(stream.fileno())
        return size - end


def _empty(folder: Path) -> None:
    """Remove what lies in a folder but its lock: a new lock file would be free while the old one is held."""
    for path in folder.iterdir():
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        elif path.name != ".lock":
            path.unlink()


class Journal:
    """The kept and dropped rows of a stage. One process at a time; a second one is refused.

    Args:
        folder: where rows.jsonl and dropped.jsonl lie.
        sync_s: seconds between syncs to the disk; 0 syncs every line, for results that are dear.
        fresh: empty the folder first. That happens under the lock: a stage that runs there loses nothing.

    Attributes:
        done: keys of the rows that have a result (16 bytes each).
        kept, reasons: how many rows were kept, and how many were dropped for which reason.
    """

    def __init__(self, folder: Path, *, sync_s: float = 1.0, fresh: bool = False) -> None:
        self.rows, self.dropped = folder / "rows.jsonl", folder / "dropped.jsonl"
        self._sync_s = sync_s
        self._last_sync = time.monotonic()
        self._lock = (folder / ".lock").open("w")
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self._lock.close()
            raise CurationError(f"{folder}: another process is working in it; wait for it, or stop it.") from None
        if fresh:
            _empty(folder)
        self.repaired = repair(self.rows) + repair(self.dropped)
        self.done: set[bytes] = set()
        self.kept = 0
        self.reasons: Counter[str] = Counter()
        for path in (self.rows, self.dropped):
            with path.open("ab+") as stream:
                stream.seek(0)
                for line in stream:
                    key, reason = self._start(line, path)
                    if key not in self.done:
                        self.done.add(key)
                        self._count(reason, 1)
        self._streams = {path: path.open("ab", buffering=0) for path in (self.rows, self.dropped)}

    def _start(self, line: bytes, path: Path) -> tuple[bytes, str | None]:
        """The key of a line, and the reason of a dropped one."""
        match = _START.match(line)
        if not match or (path is self.dropped and match[2] is None):
            raise CurationError(
                f"{path}: a line does not begin with the key, or the reason, that this stage writes; the file was edited. Move the "
                "folder away, or run the stage with fresh=true."
            )
        return bytes.fromhex(match[1].decode()), match[2].decode() if path is self.dropped else None

    def _count(self, reason: str | None, number: int) -> None:
        if reason is None:
            self.kept += number
        else:
            self.reasons[reason] += number

    def keep(self, key: str, row: dict[str, Any]) -> None:
        """Append a row that goes on to the next stage."""
        self._append(self.rows, {"key": key, **{name: value for name, value in row.items() if name != "key"}})
        self.kept += 1

    def drop(self, key: str, reason: str, record: dict[str, Any]) -> None:
        """Append a row that ends here, with the reason and everything that was known of it."""
        self._append(self.dropped, {"key": key, "reason": reason, **record})
        self.reasons[reason] += 1

    def _append(self, path: Path, record: dict[str, Any]) -> None:
        stream = self._streams[path]
        data = memoryview(dumps(record).encode("utf-8") + b"\n")
        while data:  # one write as a rule; a full disk can make it short, and then the next one raises
            data = data[stream.write(data) :]
        now = time.monotonic()
        if now - self._last_sync >= self._sync_s:
            self.sync()
            self._last_sync = now

    def sync(self) -> None:
        for stream in self._streams.values():
            os.fsync(stream.fileno())

    def forget(self, stale: set[bytes]) -> None:
        """Take out the results of rows that the input no longer has; each file is replaced at once."""
        for path, stream in self._streams.items():
            fresh = path.with_suffix(".part")
            with path.open("rb") as old, fresh.open("wb") as new:
                for line in old:
                    key, reason = self._start(line, path)
                    if key in stale:
                        self._count(reason, -1)
                    else:
                        new.write(line)
                new.flush()
                os.fsync(new.fileno())
            stream.close()
            fresh.replace(path)
            self._streams[path] = path.open("ab", buffering=0)
        self.reasons += Counter()  # drops what has come down to 0

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *_error: object) -> None:
        self.sync()
        for stream in self._streams.values():
            stream.close()
        self._lock.close()
