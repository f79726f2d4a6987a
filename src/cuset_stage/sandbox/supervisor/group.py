"""A control group (version 2) around a supervisor and its runs, in which the kernel counts all of their memory.

It is used where this user may make one. One group serves all runs of a supervisor, and a run is counted from what is
used when it begins. A run does not get its own group, because the kernel takes longer to move a process than to start
one.
"""

import contextlib
import glob
import os
from collections.abc import Iterator

from tree import read, table


# The kernel's limit lies this much above the run's. So the supervisor stops the run first, and can say why.
SLACK = 64 * 2**20
_TRIAL, _NO_LIMIT = 8 * 2**20, 2**60


class Group:
    """A control group that this process is in.

    Args:
        parent: Path of the group below which this one is made.
        home: Path of the group that this process is in now, and goes back to in `leave`.

    Raises:
        OSError: The group cannot be made or entered, or it counts nothing.
    """

    def __init__(self, parent: str, home: str) -> None:
        self._home, self.path = home, f"{parent}/cuset-{os.getpid()}"
        self._before = self._endings_before = 0
        os.mkdir(self.path)
        try:
            with contextlib.suppress(FileNotFoundError):  # a kernel that has no swap
                _write(f"{self.path}/memory.swap.max", 0)
            _enter(self.path)
            block = b"1" * _TRIAL  # memory that the group must count
            if self._current() < len(block):
                raise OSError(0, f"{self.path} counts nothing")
        except OSError:
            self.leave()
            raise

    def _current(self) -> int:
        return int(read(f"{self.path}/memory.current"))

    def _used(self) -> int:
        """Return the bytes that the kernel cannot reclaim.

        These are memory, shared memory, file systems in memory, page tables and data in flight.
        """
        stat = {name: int(value) for name, value in table(f"{self.path}/memory.stat").items()}
        cached = stat[b"file"] - stat[b"shmem"] + stat.get(b"slab_reclaimable", 0)
        return self._current() + stat.get(b"swap", 0) - cached

    def _endings(self) -> int:
        """Return how often the kernel has ended a process because of this group's own limit."""
        return int(table(f"{self.path}/memory.events")[b"oom"])

    def begin(self, most: float) -> None:
        """Start the account of a new run. The kernel ends processes at `most` bytes beyond what is used now.

        The number may be infinite.
        """
        self._before, self._endings_before = self._used(), self._endings()
        # This fails if more is in use and cannot be reclaimed. Then only the supervisor holds the run to its limit.
        with contextlib.suppress(OSError):
            _write(f"{self.path}/memory.max", min(self._before + most, _NO_LIMIT))

    def used(self, most: float) -> int:
        """Return the bytes used by the current run, or a number above them that is not more than `most`.

        That number includes what can be reclaimed. It is one counter, while for memory.stat the kernel adds up the
        counters of all CPUs, and takes a lock that all supervisors share.
        """
        at_most = self._current() - self._before  # memory.swap.max is 0, so nothing else counts
        return at_most if at_most <= most else self._used() - self._before

    def overran(self) -> bool:
        """Return True if the kernel has ended a process of the run at its limit."""
        return self._endings() > self._endings_before

    def leave(self) -> None:
        """Go back to the former group and remove this one."""
        with contextlib.suppress(OSError):
            _enter(self._home)
        with contextlib.suppress(OSError):
            os.rmdir(self.path)


def _write(file: str, value: float) -> None:
    """Write a number to a control file, which must exist."""
    with open(os.open(file, os.O_WRONLY), "w") as control:
        control.write(str(value))


def _enter(group: str) -> None:
    """Move this process to a group."""
    _write(f"{group}/cgroup.procs", 0)


def enter_group() -> Group | None:
    """Return a group for this process and what it starts, or None if it can have none.

    Groups that killed supervisors have left are removed.
    """
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
    """Yield pairs of paths: a group in which this process may make another, and the group that it is in.

    Only groups that pass the memory controller on to groups below them qualify. The one above may also be ours.
    """
    with open("/proc/self/cgroup") as file:
        own_path = next((line.rstrip("\n").removeprefix("0::") for line in file if line.startswith("0::")), None)
    with open("/proc/self/mountinfo") as file:
        for line in file:
            mount, _, system = line.partition(" - ")
            if own_path is None or system.split()[0] != "cgroup2":
                continue
            root, point = mount.split()[3:5]
            home = place = os.path.normpath(f"{point}/{os.path.relpath(own_path, root)}")
            while place.startswith(point):
                with contextlib.suppress(OSError), open(f"{place}/cgroup.subtree_control") as control:
                    if "memory" in control.read().split():
                        yield place, home
                if _is_limited(place):  # a group above would not have this limit
                    break
                place = os.path.dirname(place)


def _is_limited(group: str) -> bool:
    """Return True if the group has a memory limit. Its processes must then not leave it."""
    with contextlib.suppress(OSError):
        return read(f"{group}/memory.max").strip() != b"max"
    return False
