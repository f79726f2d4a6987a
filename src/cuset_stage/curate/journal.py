"""Results that survive `kill -9`: a result is one line, appended and synced, and the files themselves are the journal.

There is no second file that says what the first one holds, so the two cannot disagree. A line that was torn by the end of the
process is cut off when the journal is opened again, and its row is done once more. Standard library only.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import shutil
import time
from collections import Counter
from pathlib import Path
from types import TracebackType
from typing import Any

from .stage_rows import CurationError, dumps


_KEY = re.compile(rb'\{"key": "([0-9a-f]{32})"')
_REASON = re.compile(rb'\{"key": "[0-9a-f]{32}", "reason": "([a-z0-9_]{1,60})"')


def repair(path: Path) -> int:
    """Cut a torn last line off; return the number of bytes that went."""
    if not path.exists():
        return 0
    with path.open("r+b") as stream:
        size = stream.seek(0, os.SEEK_END)
        end = size
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


def empty(folder: Path) -> None:
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
            empty(folder)
        self.repaired = repair(self.rows) + repair(self.dropped)
        self.done: set[bytes] = set()
        self.kept = 0
        self.reasons: Counter[str] = Counter()
        self._read()
        self._streams = {path: path.open("ab", buffering=0) for path in (self.rows, self.dropped)}

    def _read(self) -> None:
        for path in (self.rows, self.dropped):
            if not path.exists():
                continue
            with path.open("rb") as stream:
                for line in stream:
                    key = bytes.fromhex(_line_key(line, path))
                    if key in self.done:
                        continue
                    self.done.add(key)
                    if path is self.rows:
                        self.kept += 1
                    else:
                        self.reasons[_line_reason(line, path)] += 1

    def keep(self, key: str, row: dict[str, Any]) -> None:
        """Append a row that goes on to the next stage."""
        body = {name: value for name, value in row.items() if name != "key"}
        self._append(self.rows, {"key": key, **body})
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
                    if bytes.fromhex(_line_key(line, path)) not in stale:
                        new.write(line)
                    elif path is self.rows:
                        self.kept -= 1
                    else:
                        self.reasons[_line_reason(line, path)] -= 1
                new.flush()
                os.fsync(new.fileno())
            stream.close()
            fresh.replace(path)
            self._streams[path] = path.open("ab", buffering=0)
        self.reasons += Counter()  # drops what has come down to 0

    def close(self) -> None:
        self.sync()
        for stream in self._streams.values():
            stream.close()
        self._lock.close()

    def __enter__(self) -> Journal:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _line_key(line: bytes, path: Path) -> str:
    match = _KEY.match(line)
    if not match:
        raise CurationError(
            f"{path}: a line does not begin with the key this stage writes; the file was edited. Move the folder away, or run "
            "the stage with fresh=true."
        )
    return match[1].decode("ascii")


def _line_reason(line: bytes, path: Path) -> str:
    match = _REASON.match(line)
    if match:
        return match[1].decode("ascii")
    try:
        return str(json.loads(line)["reason"])
    except (ValueError, KeyError, TypeError):
        raise CurationError(
            f"{path}: a line has no `reason` this stage writes; the file was edited. Move the folder away, or run the stage "
            "with fresh=true."
        ) from None
