"""A folder of entries that threads and processes share: each is made once, stays while it is used, and goes when room is needed.

An entry lies at <folder>/<first two characters of its key>/<key> and is complete or not there. All locks are file locks, which the kernel
releases when a process dies:

    locks/<key>.lock   held by who makes the entry, so that others wait for it instead of making it, too
    locks/<key>.used   held, shared, by all who use it; what drops it must have it alone
    room/<random>      held by who is about to write; the file's size, of a sparse file, is how much
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
ROOM_WAIT_S, ROOM_PAUSE_S = 600.0, 0.2
SETTLED_NS = 1_000_000_000  # a file system's clock is coarser than ours
LOOK_S = 10.0
"""How long a look at all entries counts: it takes hundreds of system calls, and after each its thread waits for threads that compute."""


class Held:
    """A lock on a file that lasts as long as this object, or the process."""

    def __init__(self, path: Path, *, shared: bool = False) -> None:
        self._lock = take_lock(path, shared=shared)

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
        self._locks, self._room = self.folder / "locks", self.folder / "room"
        self._listed: dict[str, tuple[int, dict[Path, int]]] = {}
        self._looked = -LOOK_S  # when all entries were looked at
        self._stored = 0  # bytes of those that were there, and of what was stored here since
        for place in (self.folder, self._locks, self._room):
            place.mkdir(parents=True, exist_ok=True, mode=0o700)
        if limit is None:
            limit = (sum(self._sizes().values()) + shutil.disk_usage(self.folder).free) * 3 // 4
        self.limit = limit
        self.trim()

    def entry(self, key: str) -> Path:
        return self.folder / key[:2] / key

    def take(self, key: str, read: Callable[[Path], T | None], make: Callable[[Path], T]) -> tuple[T, Held]:
        """What `read` says of the entry, or else `make`, which is to store it; and what keeps the entry from being dropped.

        read: None when the entry is not there, or is damaged; then it is removed. make: see `new`.
        """
        held = Held(self._locks / f"{key}.used", shared=True)
        entry = self.entry(key)
        with file_lock(self._locks / f"{key}.lock"):
            found = self._used(entry, read)
            if found is None:
                remove_tree(entry)
                found = make(entry)
        return found, held

    def find(self, key: str, read: Callable[[Path], T | None]) -> tuple[T | None, Held]:
        """What `read` says of the entry as it is, and what keeps it from being dropped."""
        held = Held(self._locks / f"{key}.used", shared=True)
        return self._used(self.entry(key), read), held

    @staticmethod
    def _used(entry: Path, read: Callable[[Path], T | None]) -> T | None:
        found = read(entry)
        if found is not None:
            with suppress(OSError):
                os.utime(entry)  # the time of its last use
        return found

    @contextmanager
    def new(self, entry: Path) -> Iterator[Path]:
        """A folder to fill, which then becomes the entry in one step."""
        with scratch_folder(self.folder) as making:
            (making / "entry").mkdir()
            yield making / "entry"
            entry.parent.mkdir(parents=True, exist_ok=True)
            size = _size(making / "entry")
            with file_lock(self._room / ".lock"):  # a look counts it, or this
                (making / "entry").rename(entry)
                self._stored += size

    def reserve(self, need: int, what: str) -> Held:
        """Wait until so many bytes may be written, dropping entries for them; they are kept free of others as long as the value lives.

        Who holds entries or room must ask for no more. Raises SandboxError when there is no room for 10 minutes, or never can be.
        """
        deadline = time.monotonic() + ROOM_WAIT_S
        while True:
            with file_lock(self._room / ".lock"):
                missing, in_use = self._make_room(need)
                if not missing:
                    return self._promise(need)
            if need > self.limit or not in_use or time.monotonic() > deadline:
                raise SandboxError(
                    f"{what}: its data takes {need / GIB:.2f} GiB, and there is no room for it under {self.folder}, by "
                    f"{missing / GIB:.2f} GiB; free disk space there, set CUSET_CACHE to a larger disk, or raise cache_gib"
                )
            time.sleep(ROOM_PAUSE_S)

    def trim(self) -> None:
        """Drop what is beyond the limit, as far as nobody uses it."""
        with file_lock(self._room / ".lock"):
            self._make_room(0)

    def _promise(self, need: int) -> Held:
        path = self._room / os.urandom(8).hex()
        held = Held(path)
        os.truncate(path, need)
        return held

    def _promised(self) -> int:
        """Bytes that others are about to write; what is written of them by now counts twice."""
        total = 0
        for path in self._room.iterdir():
            if path.name != ".lock":
                with suppress(OSError), file_lock(path, wait=False) as abandoned:
                    if abandoned:
                        path.unlink()
                    else:
                        total += path.stat().st_size
        return total

    def _make_room(self, need: int) -> tuple[int, bool]:
        """Drop entries until `need` bytes fit: (bytes that are still missing, whether somebody uses some or writes)."""
        promised = self._promised()
        in_use = promised > 0

        def missing(spare: int = 0) -> int:
            free = min(shutil.disk_usage(place).free for place in (self.folder, scratch_root()))
            wanted = need + promised + spare
            return max(0, wanted + self._stored - self.limit, wanted + RESERVE - free)

        if time.monotonic() < self._looked + LOOK_S and not missing():
            return 0, in_use
        sizes = self._sizes()
        self._looked, self._stored = time.monotonic(), sum(sizes.values())
        if not missing():
            return 0, in_use
        for entry in sorted(sizes, key=_last_use):
            with file_lock(self._locks / f"{entry.name}.used", wait=False) as unused:
                if unused:
                    with suppress(OSError):
                        remove_tree(entry)
                        self._stored -= sizes[entry]
                in_use |= not unused
            if not missing(self.limit // 20):  # or the next to store would look again
                break
        return missing(), in_use

    def _sizes(self) -> dict[Path, int]:
        """Bytes of each entry. Entries do not change, so only folders of entries in which some came or went are read again."""
        for place in os.scandir(self.folder):
            if len(place.name) != 2:
                continue
            changed, kept = place.stat().st_mtime_ns, self._listed.get(place.path, (0, {}))
            if changed == kept[0]:
                continue
            # Of what changed a moment ago the time may stay as it is when it changes again.
            settled = changed < time.time_ns() - SETTLED_NS
            found = {
                entry: kept[1][entry] if entry in kept[1] else _size(entry) for entry in Path(place.path).iterdir()
            }
            self._listed[place.path] = (changed if settled else 0, found)
        return {entry: size for _, found in self._listed.values() for entry, size in found.items()}


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
