"""A control group (version 2) around a supervisor and its runs, where this user may make one: the kernel counts all of their memory.

A run is counted from what is used when it begins. It does not enter a group of its own: moving a process takes the kernel longer than
starting one.
"""

import contextlib
import glob
import os
from collections.abc import Iterator

from tree import table


SLACK = 64 * 2**20  # what the kernel holds a run to lies above its limit: we stop it there first, and say why
_TRIAL, _NO_LIMIT = 8 * 2**20, 2**60


class Group:
    """A group below `parent` that this process enters. Raises OSError where that does not work, or nothing is counted then."""

    def __init__(self, parent: str, home: str) -> None:
        self._home, self.path = home, f"{parent}/cuset-{os.getpid()}"
        self._before = self._endings_before = 0
        os.mkdir(self.path)
        try:
            with contextlib.suppress(FileNotFoundError):  # a kernel that has no swap
                self._write("memory.swap.max", 0)
            _enter(self.path)
            block = b"1" * _TRIAL
            if self._current() < len(block):
                raise OSError(0, f"{self.path} counts nothing")
        except OSError:
            self.leave()
            raise

    def _current(self) -> int:
        with open(f"{self.path}/memory.current", "rb") as control:
            return int(control.read())

    def _write(self, file: str, value: int) -> None:
        with open(os.open(f"{self.path}/{file}", os.O_WRONLY), "w") as control:
            control.write(str(value))

    def _used(self) -> int:
        """Bytes that cannot be had back: memory, shared memory, file systems in memory, page tables, data in flight."""
        stat = {name: int(value) for name, value in table(f"{self.path}/memory.stat").items()}
        cached = stat[b"file"] - stat[b"shmem"] + stat.get(b"slab_reclaimable", 0)
        return self._current() + stat.get(b"swap", 0) - cached

    def _endings(self) -> int:
        """How often this group's own limit made the kernel end a process."""
        return int(table(f"{self.path}/memory.events")[b"oom"])

    def begin(self, most: float) -> None:
        """Start the account of a new run, which the kernel holds to this many bytes beyond what is used now."""
        self._before, self._endings_before = self._used(), self._endings()
        # it fails where so much is used, and cannot be had back: the run is held to its limit by us
        with contextlib.suppress(OSError):
            self._write("memory.max", min(self._before + most, _NO_LIMIT))

    def used(self) -> int:
        return self._used() - self._before

    def overran(self) -> bool:
        """True if the kernel has ended a process of the run at its limit."""
        return self._endings() > self._endings_before

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
        for parent, home in _places():
            for left in glob.glob(f"{parent}/cuset-*"):
                if not os.path.exists(f"/proc/{left.rpartition('-')[2]}"):
                    with contextlib.suppress(OSError):
                        os.rmdir(left)
            with contextlib.suppress(OSError, KeyError, ValueError):
                return Group(parent, home)
    return None


def _places() -> Iterator[tuple[str, str]]:
    """(a group that may have others below it, this process's group).

    Only those have others below them that share their memory out; one above may be ours, too.
    """
    own = None
    with open("/proc/self/cgroup") as file:
        for line in file:
            if line.startswith("0::"):
                own = line.rstrip("\n").removeprefix("0::")
    with open("/proc/self/mountinfo") as file:
        for line in file:
            mount, _, system = line.partition(" - ")
            if own is None or system.split()[0] != "cgroup2":
                continue
            root, point = mount.split()[3:5]
            home = place = os.path.normpath(f"{point}/{os.path.relpath(own, root)}")
            while place.startswith(point):
                with contextlib.suppress(OSError), open(f"{place}/cgroup.subtree_control") as control:
                    if "memory" in control.read().split():
                        yield place, home
                if _is_limited(place):
                    break
                place = os.path.dirname(place)


def _is_limited(group: str) -> bool:
    """True if somebody has given the group less than the machine's memory; its processes must then not leave it."""
    with contextlib.suppress(OSError), open(f"{group}/memory.max") as control:
        return control.read().strip() != "max"
    return False
