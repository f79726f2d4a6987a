"""A cache folder whose entries are shared by threads and processes.

An entry is made once, is never dropped while somebody uses it, and may be dropped when disk space is needed. It lies
at <folder>/<first two characters of its key>/<key>, and is either complete or absent.

All locks are file locks, because the kernel releases them when a process dies:

    locks/<key>.lock   exclusive, held while the entry is made, so that others wait instead of making it as well
    locks/<key>.used   shared, held by every user of the entry; dropping the entry needs it exclusively
    locks/.room        exclusive, held while entries are dropped
"""

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
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
    """The entries below `folder`.

    The cache keeps a reserve of disk space free: a quarter of the sum of the entries' size and the free space, both
    measured when this object is made, and at least 2 GiB. When less would be left, the least recently used entries are
    dropped, except those in use.
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
        """Return the path of an entry, which need not exist."""
        return self.folder / key[:2] / key

    def take(self, key: str, read: Callable[[Path], T | None], make: Callable[[Path], T]) -> tuple[T, Held]:
        """Return the content of an entry, and make the entry first if it is missing or damaged.

        Args:
            read: Reads the entry. It returns None when the entry is missing or damaged. What is there is then removed.
            make: Makes the content and stores it with `new`.

        Returns:
            What `read` or `make` returned, and a lock that keeps the entry from being dropped.
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
        """Yield an empty folder to fill. When the block ends, it becomes the entry in one step."""
        with scratch_folder(self.folder) as making:
            (making / "entry").mkdir()
            yield making / "entry"
            entry.parent.mkdir(parents=True, exist_ok=True)
            (making / "entry").rename(entry)

    def make_room(self, need: int, what: str) -> None:
        """Drop entries so that `need` more bytes can be written.

        Entries in use stay, even if less than a quarter of the space is free then. `what` names for an error message
        what needs the space.

        Raises:
            SandboxError: The disk lacks the space even so.
        """
        self.drop(need)
        place = min(self.folder, scratch_root(), key=lambda place: shutil.disk_usage(place).free)
        if (missing := need + RESERVE - shutil.disk_usage(place).free) > 0:
            key = "CUSET_CACHE" if place == self.folder else "CUSET_SCRATCH"
            raise SandboxError(
                f"{what}: its data takes {need / GIB:.2f} GiB, and there is no room for it under {place}, by "
                f"{missing / GIB:.2f} GiB; free disk space there, or set {key} to a larger disk"
            )

    def drop(self, need: int = 0) -> None:
        """Drop the least recently used entries that are not in use now, until `need` bytes fit."""

        def is_full(spare: int = 0) -> bool:
            return shutil.disk_usage(self.folder).free < need + self._reserve + spare

        with file_lock(self._locks / ".room"):
            for entry in sorted(self._entries(), key=_last_use) if is_full() else ():
                with file_lock(self._locks / f"{entry.name}.used", wait=False) as unused:
                    if unused:
                        with suppress(OSError):
                            remove_tree(entry)
                # A little more than necessary, or the next entry to be stored would cause the same search again.
                if not is_full(self._reserve // 20):
                    return

    def _entries(self) -> list[Path]:
        return list(self.folder.glob("??/*"))


def _size(entry: Path) -> int:
    """Return the bytes of an entry. Of an entry that is being dropped, only what is still there counts."""
    total = 0
    with suppress(OSError):
        for file in entry.rglob("*"):
            total += file.stat().st_size if file.is_file() else 0
    return total


def _last_use(entry: Path) -> float:
    try:
        return entry.stat().st_mtime
    except FileNotFoundError:  # dropped meanwhile
        return 0.0
