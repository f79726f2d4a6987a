"""A folder of entries that threads and processes share: each is made once, stays while it is used, and goes when room is needed.

An entry lies at <folder>/<first two characters of its key>/<key> and is complete or not there. All locks are file locks, which the kernel
releases when a process dies:

    locks/<key>.lock   held by who makes the entry, so that others wait for it instead of making it, too
    locks/<key>.used   held, shared, by all who use it; what drops it must have it alone
    locks/.room        held while entries are dropped
"""

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from operator import itemgetter
from pathlib import Path
from typing import TypeVar

from ..files import file_lock, take_lock
from .folders import remove_tree, scratch_folder, scratch_root
from .limits import GIB, SandboxError


T = TypeVar("T")
RESERVE = 2 * GIB  # disk space that stays free


class Held:
    """A shared lock on a file that lasts as long as this object, or the process."""

    def __init__(self, path: Path) -> None:
        self._lock = take_lock(path, shared=True)

    def __del__(self) -> None:
        with suppress(AttributeError, OSError):  # it was never opened
            os.close(self._lock)


class Cache:
    """Entries below `folder`.

    Of what they take when this is made and the disk space that is free then, a quarter stays free, and 2 GiB at least: where less would be
    left, the entries used longest ago are dropped, but for those that someone uses.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = Path(folder).absolute()
        self._locks = self.folder / "locks"
        for place in (self.folder, self._locks):
            place.mkdir(parents=True, exist_ok=True, mode=0o700)
        used = sum(_size(entry) for entry in self._entries())
        self._reserve = max(RESERVE, (used + shutil.disk_usage(self.folder).free) // 4)
        self.drop()

    def place(self, key: str) -> Path:
        """Where the entry lies, or would."""
        return self.folder / key[:2] / key

    def take(self, key: str, read: Callable[[Path], T | None], make: Callable[[Path], T]) -> tuple[T, Held]:
        """What `read` says of the entry, or else `make`, which is to store it; and what keeps the entry from being dropped.

        read: None when the entry is not there, or is damaged; then it is removed. make: see `new`.
        """
        held = Held(self._locks / f"{key}.used")
        entry = self.place(key)
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
            (making / "entry").rename(entry)

    def make_room(self, need: int, what: str) -> None:
        """Drop entries so that `need` more bytes may be written. Those in use stay, even where less than a quarter is free then.

        Raises SandboxError, which names `what` needs the room, where the disk lacks it.
        """
        self.drop(need)
        free, place = self._free()
        if (missing := need + RESERVE - free) > 0:
            key = "CUSET_CACHE" if place == self.folder else "CUSET_SCRATCH"
            raise SandboxError(
                f"{what}: its data takes {need / GIB:.2f} GiB, and there is no room for it under {place}, by "
                f"{missing / GIB:.2f} GiB; free disk space there, or set {key} to a larger disk"
            )

    def drop(self, need: int = 0) -> None:
        """Drop the entries used longest ago, and not in use now, until `need` bytes fit."""

        def is_full(spare: int = 0) -> bool:
            return self._free()[0] < need + self._reserve + spare

        with file_lock(self._locks / ".room"):
            for entry in sorted(self._entries(), key=_last_use) if is_full() else ():
                with file_lock(self._locks / f"{entry.name}.used", wait=False) as unused:
                    if unused:
                        with suppress(OSError):
                            remove_tree(entry)
                if not is_full(self._reserve // 20):  # or the next to store would look again
                    return

    def _free(self) -> tuple[int, Path]:
        """Bytes that are free where the entries lie or scratch folders do, and where: whichever has fewer."""
        return min(
            ((shutil.disk_usage(place).free, place) for place in (self.folder, scratch_root())), key=itemgetter(0)
        )

    def _entries(self) -> list[Path]:
        return list(self.folder.glob("??/*"))


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
