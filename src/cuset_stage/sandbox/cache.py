"""A folder of entries that threads and processes share: each is made once, stays while it is used, and goes when room is needed.

An entry lies at <folder>/<first two characters of its key>/<key> and is complete or not there. All locks are file locks, which the kernel
releases when a process dies:

    locks/<key>.lock   held by who makes the entry, so that others wait for it instead of making it, too
    locks/<key>.used   held, shared, by all who use it; what drops it must have it alone
    locks/.room        held while entries are counted or dropped
"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TypeVar

from ..files import file_lock, take_lock
from .folders import remove_tree, scratch_folder, scratch_root
from .limits import GIB, SandboxError


T = TypeVar("T")
RESERVE = 2 * GIB  # disk space that stays free
LOOK_S = 60.0
"""How long a look at all entries counts: it takes hundreds of system calls, and after each its thread waits for threads that compute."""


class Held:
    """A shared lock on a file that lasts as long as this object, or the process."""

    def __init__(self, path: Path) -> None:
        self._lock = take_lock(path, shared=True)

    def __del__(self) -> None:
        with suppress(AttributeError, OSError):  # it was never opened
            os.close(self._lock)


class Cache:
    """Entries below `folder`.

    limit: bytes that they may take; None: three quarters of what they take now and what is free, anew for each run. Beyond it, and
    where less than 2 GiB of the disk would be left, the entries used longest ago are dropped, but for those that someone uses. What other
    processes store is seen by the first to store LOOK_S later.
    """

    def __init__(self, folder: Path, limit: int | None = None) -> None:
        self.folder = Path(folder).absolute()
        self._locks = self.folder / "locks"
        self._looked = -LOOK_S  # when all entries were looked at
        self._stored = 0  # bytes of those that were there, and of what was stored here since
        for place in (self.folder, self._locks):
            place.mkdir(parents=True, exist_ok=True, mode=0o700)
        if limit is None:
            limit = (sum(self._sizes().values()) + shutil.disk_usage(self.folder).free) * 3 // 4
        self.limit = limit
        self.trim()

    def take(self, key: str, read: Callable[[Path], T | None], make: Callable[[Path], T]) -> tuple[T, Held]:
        """What `read` says of the entry, or else `make`, which is to store it; and what keeps the entry from being dropped.

        read: None when the entry is not there, or is damaged; then it is removed. make: see `new`.
        """
        held = Held(self._locks / f"{key}.used")
        entry = self.folder / key[:2] / key
        with file_lock(self._locks / f"{key}.lock"):
            content = read(entry)
            if content is None:
                remove_tree(entry)
                return make(entry), held
        with suppress(OSError):
            os.utime(entry)  # the time of its last use
        return content, held

    @contextmanager
    def new(self, entry: Path) -> Iterator[Path]:
        """A folder to fill, which then becomes the entry in one step."""
        with scratch_folder(self.folder) as making:
            (making / "entry").mkdir()
            yield making / "entry"
            entry.parent.mkdir(parents=True, exist_ok=True)
            size = _size(making / "entry")
            with file_lock(self._locks / ".room"):  # a look counts it, or this
                (making / "entry").rename(entry)
                self._stored += size

    def make_room(self, need: int, what: str) -> None:
        """Drop entries so that `need` more bytes may be written. Those in use stay, even where the limit is passed then.

        Raises SandboxError, which names `what` needs the room, where the bytes exceed the limit by themselves or the disk lacks them.
        """
        self._drop(need)
        if missing := max(0, need - self.limit, need + RESERVE - self._free()):
            raise SandboxError(
                f"{what}: its data takes {need / GIB:.2f} GiB, and there is no room for it under {self.folder}, by "
                f"{missing / GIB:.2f} GiB; free disk space there, set CUSET_CACHE to a larger disk, or raise cache_gib"
            )

    def trim(self) -> None:
        """Drop what is beyond the limit, as far as nobody uses it."""
        self._drop(0)

    def _drop(self, need: int) -> None:
        """Drop the entries used longest ago, and not in use now, until `need` bytes fit."""

        def is_full(spare: int = 0) -> bool:
            wanted = need + spare
            return self._stored + wanted > self.limit or wanted + RESERVE > self._free()

        with file_lock(self._locks / ".room"):
            if time.monotonic() < self._looked + LOOK_S and not is_full():
                return
            sizes = self._sizes()
            self._looked, self._stored = time.monotonic(), sum(sizes.values())
            if not is_full():
                return
            for entry in sorted(sizes, key=_last_use):
                with file_lock(self._locks / f"{entry.name}.used", wait=False) as unused:
                    if unused:
                        with suppress(OSError):
                            remove_tree(entry)
                            self._stored -= sizes[entry]
                if not is_full(self.limit // 20):  # or the next to store would look again
                    return

    def _free(self) -> int:
        """Bytes that are free on the disk of the entries and on that of scratch folders, whichever has fewer."""
        return min(shutil.disk_usage(place).free for place in (self.folder, scratch_root()))

    def _sizes(self) -> dict[Path, int]:
        """Bytes of each entry."""
        return {entry: _size(entry) for entry in self.folder.glob("??/*")}


def _size(entry: Path) -> int:
    """Bytes of an entry; of one that is being dropped, of what was still there."""
    total = 0
    with suppress(OSError):
        for file in entry.rglob("*"):
            total += file.stat().st_size if file.is_file() else 0
    return total


def _last_use(entry: Path) -> float:
    try:
        return entry.stat().st_mtime
    except FileNotFoundError:  # somebody has dropped it
        return 0.0
