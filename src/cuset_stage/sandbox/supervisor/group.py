"""A control group around a supervisor and the runs that it watches, where this user may make one: the kernel counts all of their memory.

A run is counted from what is used when it begins. It does not enter a group of its own: moving a process takes the kernel longer than
starting one.
"""

from __future__ import annotations

import contextlib
import glob
import os
from collections.abc import Iterator

from tree import table


SLACK = 64 * 2**20  # what the kernel holds a run to lies above its limit: we stop it there first, and say why
_TRIAL, _NO_LIMIT = 8 * 2**20, 2**60
_ENDED_1 = [("memory.failcnt", None), ("memory.oom_control", b"oom_kill")]
# version -> the files that limit and that count, the page cache in memory.stat (what is in files on a disk, and can be had back), and
# what rises when the group's own limit, and not another, made the kernel end something: all of these
_FILES = {
    1: ("memory.limit_in_bytes", "memory.usage_in_bytes", b"cache", _ENDED_1),
    2: ("memory.max", "memory.current", b"file", [("memory.events", b"oom")]),
}


class Group:
    """A group below `parent` that this process enters. Raises OSError where that does not work, or nothing is counted then."""

    def __init__(self, version: int, parent: str, home: str) -> None:
        self.version, self._home, self.path = version, home, f"{parent}/cuset-{os.getpid()}"
        self._limit, self._count, self._cache, self._ended = _FILES[version]
        self._before, self._endings_before = 0, []
        os.mkdir(self.path)
        try:
            with contextlib.suppress(FileNotFoundError):  # a kernel that has no swap
                self._write("memory.swap.max", 0)
            _enter(self.path)
            block = b"1" * _TRIAL
            if self._read(self._count) < len(block):
                raise OSError(0, f"{self.path} counts nothing")
        except OSError:
            self.leave()
            raise

    def _read(self, file: str, name: bytes | None = None) -> int:
        path = f"{self.path}/{file}"
        if name is not None:
            return int(table(path)[name])
        with open(path, "rb") as control:
            return int(control.read())

    def _write(self, file: str, value: int) -> None:
        with open(os.open(f"{self.path}/{file}", os.O_WRONLY), "w") as control:
            control.write(str(value))

    def _used(self) -> int:
        """Bytes that cannot be had back: memory, shared memory, file systems in memory, page tables, data in flight."""
        stat = {name: int(value) for name, value in table(f"{self.path}/memory.stat").items()}
        cached = stat[self._cache] - stat[b"shmem"] + stat.get(b"slab_reclaimable", 0)
        return self._read(self._count) + stat.get(b"swap", 0) - cached

    def _endings(self) -> list[int]:
        return [self._read(file, name) for file, name in self._ended]

    def begin(self, most: float) -> None:
        """What is used from now on is a new run's, which the kernel holds to this many bytes."""
        self._before, self._endings_before = self._used(), self._endings()
        # it fails where so much is used, and cannot be had back: the run is held to its limit by us
        with contextlib.suppress(OSError):
            self._write(self._limit, min(self._before + most, _NO_LIMIT))

    def used(self) -> int:
        return self._used() - self._before

    def overran(self) -> bool:
        """Whether the kernel has ended something of the run at its limit."""
        return all(now > before for now, before in zip(self._endings(), self._endings_before, strict=True))

    def leave(self) -> None:
        with contextlib.suppress(OSError):
            _enter(self._home)
        with contextlib.suppress(OSError):
            os.rmdir(self.path)


def _enter(group: str) -> None:
    with open(os.open(f"{group}/cgroup.procs", os.O_WRONLY), "w") as control:
        control.write("0")


def enter_group() -> Group | None:
    """A group for this process and what it starts, or None where none is to be had. What killed judges have left goes."""
    with contextlib.suppress(OSError):
        for version, parent, home in _places():
            for left in glob.glob(f"{parent}/cuset-*"):
                if not os.path.exists(f"/proc/{left.rpartition('-')[2]}"):
                    with contextlib.suppress(OSError):
                        os.rmdir(left)
            with contextlib.suppress(OSError, KeyError, ValueError):
                return Group(version, parent, home)
    return None


def _places() -> Iterator[tuple[int, str, str]]:
    """(version, a group that may have others below it, this process's group).

    In version 2 only those have others below them that share their memory out; one above may be ours, too.
    """
    own = {}
    with open("/proc/self/cgroup") as file:
        for line in file:
            number, controllers, path = line.rstrip("\n").split(":", 2)
            if number == "0" or "memory" in controllers.split(","):
                own[2 if number == "0" else 1] = path
    with open("/proc/self/mountinfo") as file:
        for line in file:
            mount, _, system = line.partition(" - ")
            root, point = mount.split()[3:5]
            kind, _, options = system.split()[:3]
            version = {"cgroup2": 2, "cgroup": 1}.get(kind, 0)
            if version not in own or (version == 1 and "memory" not in options.split(",")):
                continue
            home = place = os.path.normpath(f"{point}/{os.path.relpath(own[version], root)}")
            if version == 1:
                yield version, place, home
            while version == 2 and place.startswith(point):
                with contextlib.suppress(OSError), open(f"{place}/cgroup.subtree_control") as control:
                    if "memory" in control.read().split():
                        yield version, place, home
                if _is_limited(place):
                    break
                place = os.path.dirname(place)


def _is_limited(group: str) -> bool:
    """Whether somebody has given it less than its machine's memory: what it starts is not to leave it."""
    with contextlib.suppress(OSError), open(f"{group}/memory.max") as control:
        return control.read().strip() != "max"
    return False
