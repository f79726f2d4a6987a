"""Where caches and locks lie, locks between processes, and a bound on a cache's size."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from .folders import remove_tree
from .limits import SandboxError


IN_USE_S = 3600.0  # an entry used within this time is never evicted: its binary may be about to run


def cache_root() -> Path:
    """$CUSET_CACHE, else $XDG_CACHE_HOME/cuset, else ~/.cache/cuset; made when missing, closed to other users.

    Programs under test must not read it: it holds the references. Raises SandboxError when it cannot be made.
    """
    default = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "cuset")
    root = Path(os.environ.get("CUSET_CACHE") or default).expanduser().absolute()
    try:
        root.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        problem = f"the cache folder {root} cannot be made ({error.strerror})"
        raise SandboxError(f"{problem}; name another with CUSET_CACHE=/path") from error
    return root


@contextmanager
def file_lock(path: Path, *, wait: bool = True) -> Iterator[bool]:
    """Hold an exclusive lock on a file, between threads and processes; it goes when the process dies.

    Yields whether it is held; without `wait`, that is not so while another holds it.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    owner = os.getpid()
    fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    held = False
    try:
        with suppress(BlockingIOError):
            fcntl.flock(fd, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
            held = True
        yield held
    finally:
        if (
            os.getpid() == owner
        ):  # closing it is not enough while a fork of this process has it, too; and a fork lets go of nothing
            fcntl.flock(fd, fcntl.LOCK_UN)
        os.close(fd)


def evict(folder: Path, max_bytes: int) -> int:
    """Remove the entries (two levels down) used longest ago until the rest fits; returns the bytes removed.

    The time of use is the modification time of the entry's folder.
    """
    entries = []
    for entry in folder.glob("*/*/"):
        with suppress(OSError):
            entries.append((entry.stat().st_mtime, sum(file.stat().st_size for file in entry.iterdir()), entry))
    total = left = sum(size for _, size, _ in entries)
    for used, size, entry in sorted(entries):
        if left <= max_bytes or time.time() - used < IN_USE_S:
            break
        remove_tree(entry)
        left -= size
    return total - left
