"""The processes below this one, what they and their folder use, and how to end them all."""

import contextlib
import ctypes
import errno
import functools
import os
import resource
import signal
import stat
import time
from typing import NamedTuple


TICK = os.sysconf("SC_CLK_TCK")
ALL = 4096
# A look reads no more mappings and open files of all processes, where a deleted file counts as 20: the kernel takes 100 us to find one
MOST_HELD, DELETED_HELD = 2**17, 20
_DELETED = b" (deleted)"
_IN_MEMORY = (b"/dev/zero", b"/memfd:", b"/dev/shm/", b"/SYSV")  # shared memory, as /proc names it
_NETWORK = ("unix", "netlink", "tcp", "tcp6", "udp", "udp6")
_CAP_SYS_PTRACE = 1 << 19
_PF_FORKNOEXEC, _KCMP_VM = 1 << 6, 1
_LIBC = ctypes.CDLL(None)
KILL_PATIENCE_S = 30.0  # a driver may take seconds to tear a context down


def _read(path: str, most: int = 65536) -> bytes:
    """One read, which is all of a short file; -1: to the end, of those that the kernel gives out page by page."""
    with open(path, "rb", buffering=0) as file:
        return file.read(most)


def table(path: str) -> dict[bytes, bytes]:
    """The first word after each name, of a file with lines such as `VmRSS:  12 kB`."""
    words = (line.split() for line in _read(path).split(b"\n"))  # a process may have other ends of lines in its name
    return {line[0].rstrip(b":"): line[1] for line in words if len(line) > 1}


def descendants(most: int = ALL) -> list[int]:
    """The processes below this one, parents first, zombies that nobody has waited for included.

    Stops when more than `most` are found: a tree may grow faster than anybody can walk it.
    """
    found: list[int] = []
    queue = [os.getpid()]
    while queue and len(found) <= most:
        tasks = f"/proc/{queue.pop(0)}/task"
        with contextlib.suppress(OSError):
            for thread in os.listdir(tasks):
                with contextlib.suppress(OSError):
                    below = [int(pid) for pid in _read(f"{tasks}/{thread}/children", -1).split()]
                    found += below
                    queue += below
    return found


class Usage(NamedTuple):
    """Of some processes. own, shared: bytes of memory; pages that several share count for each (see `shared_fairly`). largest: the most
    that one of them has of its own, which is never more than all have together. files: bytes of files and of devices' memory that are
    mapped.

    threads_of: a living thread of each process, by which /proc tells of its memory and files: the first may have ended.
    """

    processes: int
    threads: int
    cpu_seconds: float
    own: int
    largest: int
    shared: int
    files: int
    threads_of: list[int]


def _stat(pid: int) -> list[bytes]:
    """The fields of /proc/PID/stat behind the name: the state, ..."""
    return _read(f"/proc/{pid}/stat").rpartition(b")")[2].split()


def _ended(fields: list[bytes]) -> bool:
    return fields[0] in (b"Z", b"X")


def _is_fork(pid: int) -> bool:
    """Whether it has run no program of its own yet."""
    with contextlib.suppress(OSError):
        return bool(int(_stat(pid)[6]) & _PF_FORKNOEXEC)
    return False


def _borrows_memory(pid: int, fields: list[bytes]) -> bool:
    """Whether it is its parent's memory that it has, as behind a vfork until it runs a program."""
    if not int(fields[6]) & _PF_FORKNOEXEC:
        return False
    kcmp = {"x86_64": 312, "aarch64": 272}.get(os.uname().machine, -1)
    return _LIBC.syscall(kcmp, pid, int(fields[1]), _KCMP_VM, 0, 0) == 0


def _has_memory(pid: int) -> bool:
    """Whether it is not ending: then its memory has gone, and only root may look at the rest."""
    try:
        return b"VmRSS" in table(f"/proc/{pid}/status")
    except OSError:
        return False


def measure(pids: list[int]) -> Usage:
    """Sum up what the processes use now."""
    threads = own = largest = shared = files = 0
    cpu_seconds = 0.0
    living = []
    for pid in pids:
        with contextlib.suppress(OSError, ValueError):  # it has ended meanwhile
            fields = _stat(pid)
            if _ended(fields):
                others = map(int, os.listdir(f"/proc/{pid}/task"))
                pid = next((other for other in others if not _ended(_stat(other))), None)
                if pid is None:
                    continue
            status = table(f"/proc/{pid}/status")
            living.append(pid)
            threads += int(fields[17])
            cpu_seconds += sum(map(int, fields[11:15])) / TICK
            if _borrows_memory(pid, fields):
                continue
            its = 1024 * sum(int(status.get(name, 0)) for name in (b"RssAnon", b"VmSwap", b"VmPTE", b"HugetlbPages"))
            own, largest = own + its, max(largest, its)
            shared += 1024 * int(status.get(b"RssShmem", 0))
            files += 1024 * int(status.get(b"RssFile", 0))
    return Usage(len(living), threads, cpu_seconds, own, largest, shared, files, living)


def shared_fairly(threads_of: list[int]) -> tuple[int, int] | None:
    """(own, shared) bytes with each shared page counted once (PSS): exact and slow, asked only when the quick sum is too high. Memory
    that a driver has given, as for CUDA's managed memory on the host, is its process's own.

    None where one of them is not ours to read, or they have more than MOST_HELD mappings.
    """
    own = shared = mappings = 0
    for pid in threads_of:
        try:
            if _borrows_memory(pid, _stat(pid)):
                continue
            with open(f"/proc/{pid}/maps", "rb") as maps:
                has_device = False
                for line in maps:
                    has_device |= b" /dev/nvidia" in line
                    mappings += 1
                    if mappings > MOST_HELD:
                        return None
            rollup, status = table(f"/proc/{pid}/smaps_rollup"), table(f"/proc/{pid}/status")
            own += _device_bytes(pid) if has_device else 0
        except (ProcessLookupError, FileNotFoundError):
            continue
        except OSError:
            return None
        parts = (rollup.get(b"Pss_Anon"), rollup.get(b"SwapPss"), status.get(b"VmPTE"), status.get(b"HugetlbPages"))
        own += 1024 * sum(int(part or 0) for part in parts)
        shared += 1024 * int(rollup.get(b"Pss_Shmem", 0))
    return own, shared


def _device_bytes(pid: int) -> int:
    total, counts = 0, False
    with open(f"/proc/{pid}/smaps", "rb") as smaps:
        for line in smaps:
            words = line.split()
            if not words[0].endswith(b":"):  # a mapping: what follows is about it
                counts = words[-1].startswith(b"/dev/nvidia")
            elif counts and words[0] == b"Rss:":
                total += 1024 * int(words[1])
    return total


class OutOfSight:
    """What processes hold that is not in their own memory, and has no name: deleted files, shared memory, data in flight in sockets and
    pipes.

    same_user: the processes have our user, and closed to us are only those that hide something; else we need CAP_SYS_PTRACE. Only root
    may look at a file that is mapped and not open. For another user memory counts up to the end of what has been seen mapped, and a
    file on the disk for `unseen_bytes`. contained: the processes have a /dev/shm of their own, which counts with all that is in it.
    network: and a network of their own, where sockets may belong to none of them.
    """

    def __init__(self, unseen_bytes: float, *, same_user: bool, contained: bool, network: bool) -> None:
        self._unseen_bytes = unseen_bytes
        self._contained, self._network = contained, network
        self._shared_memory = -1  # the device of that /dev/shm
        self._may_look = same_user or bool(int(table("/proc/self/status")[b"CapEff"], 16) & _CAP_SYS_PTRACE)
        self._sizes: dict[object, tuple[bool, float]] = {}  # what -> whether it is in memory, bytes
        self._before = self._sizes
        self._in_flight: set[bytes] = set()  # sockets and pipes
        self._measured: set[object] = set()  # mapped files whose size is known
        self._first: int | None = None
        self._begins = True  # the first process may not have been the program yet, when it was looked at last
        self.held = 0  # mappings and open files that the last look has read; it ends above MOST_HELD

    def look(self, threads_of: list[int]) -> tuple[float, float, float]:
        """Bytes in (sockets and pipes, memory, disk). The first count for all that they may hold."""
        self._before, self._sizes = self._sizes, {}
        self._in_flight, self._measured, self.held = set(), set(), 0
        if self._first is None and threads_of:
            self._first = threads_of[0]
        sockets = 0
        for pid in threads_of:
            try:
                if self._contained and self._shared_memory not in self._sizes:
                    place = f"/proc/{pid}/root/dev/shm"
                    room, self._shared_memory = os.statvfs(place), os.stat(place).st_dev
                    self._sizes[self._shared_memory] = True, (room.f_blocks - room.f_bfree) * room.f_bsize
                self._look_at(pid)
                if self._network and not sockets:
                    for name in _NETWORK:
                        with contextlib.suppress(FileNotFoundError):  # without IPv6
                            sockets += _read(f"/proc/{pid}/net/{name}", -1).count(b"\n") - 1
            except PermissionError:
                # The shell that nobody may look into (isolation.py) has forked it; it may become the program between two questions.
                if pid == self._first and (self._begins or _is_fork(pid)):
                    self._begins = _is_fork(pid)
                elif self._may_look and _has_memory(pid):
                    return float("inf"), 0, 0
            except OSError:
                continue
        both = self._sizes.values()
        memory, disk = (sum(size for in_memory, size in both if in_memory is wanted) for wanted in (True, False))
        pipes = sum(name.startswith(b"pipe:") for name in self._in_flight)
        sockets = max(sockets, len(self._in_flight) - pipes)
        return sockets * socket_bytes(self._network) + pipe_bytes(pipes), memory, disk

    def _look_at(self, pid: int) -> None:
        for name in (*(f"fd/{number}" for number in os.listdir(f"/proc/{pid}/fd")), "exe"):
            link = f"/proc/{pid}/{name}".encode()
            with contextlib.suppress(OSError):
                self.held += 1
                target = os.readlink(link)
                if target.startswith((b"socket:", b"pipe:")):
                    self._in_flight.add(target)
                elif target.endswith(_DELETED):
                    self._add(link, target)
            if self.held > MOST_HELD:
                return
        with contextlib.suppress(PermissionError), open(f"/proc/{pid}/maps", "rb") as maps:
            for line in maps:
                self.held += 1
                if self.held > MOST_HELD:
                    return
                if line.endswith(_DELETED + b"\n"):
                    place, _, offset, device, inode, target = line.split(maxsplit=5)
                    numbers = (int(part, 16) for part in device.split(b":"))
                    if (device, inode) in self._measured or os.makedev(*numbers) == self._shared_memory:
                        continue
                    begin, end = (int(part, 16) for part in place.split(b"-"))
                    with contextlib.suppress(FileNotFoundError):
                        path = f"/proc/{pid}/map_files/{begin:x}-{end:x}".encode()
                        self._add(path, target, (device, inode), int(offset, 16) + end - begin)

    def _add(self, path: bytes, target: bytes, name: object = None, mapped: int = 0) -> None:
        in_memory = target.startswith(_IN_MEMORY)
        try:
            info = os.stat(path)
            self.held += DELETED_HELD
            self._measured.add(name)
            if stat.S_ISREG(info.st_mode) and info.st_dev != self._shared_memory:
                self._sizes[info.st_dev, info.st_ino] = in_memory, info.st_blocks * 512
        except PermissionError:
            known = (seen[name][1] for seen in (self._before, self._sizes) if name in seen)
            self._sizes[name] = in_memory, max(mapped, *known, 0) if in_memory else self._unseen_bytes


def _setting(name: str, default: int) -> int:
    """A number below /proc/sys, the last of several."""
    with contextlib.suppress(OSError, ValueError):
        return int(_read(f"/proc/sys/{name}").split()[-1])
    return default


@functools.cache
def socket_bytes(network: bool) -> int:
    """What may lie in a socket, as the kernel counts it: a buffer that no program may make larger (confine.py), and one message beyond, in up
    to twice its size. A buffer of TCP grows by itself."""
    most = 3 * max(_setting(f"net/core/{way}mem_default", 212_992) for way in "rw")
    return max(most, _setting("net/ipv4/tcp_wmem", 4 * 2**20)) if network else most


def pipe_bytes(count: int) -> int:
    """What may lie in so many pipes of one user: pages, each of which belongs to the pipe alone (confine.py refuses to give others)."""
    all_of_user = _setting("fs/pipe-user-pages-soft", 16384) * 4096 or count * 2**20
    return min(count * _setting("fs/pipe-max-size", 2**20), all_of_user + count * 8192)


def folder_usage(folder: str, max_bytes: float, max_entries: float) -> tuple[int, float]:
    """(bytes on disk, entries) below the folder; stops counting as soon as a maximum is passed.

    Too many entries: also a path too long for the kernel, and a folder that closes again after we opened it. Nobody does that with
    good intent.
    """
    total = entries = 0
    opened = set()
    queue = [folder]
    while queue:
        place = queue.pop()
        try:
            with os.scandir(place) as listing:
                for entry in listing:
                    entries += 1
                    with contextlib.suppress(FileNotFoundError):
                        info = entry.stat(follow_symlinks=False)
                        total += info.st_blocks * 512
                        if entry.is_dir(follow_symlinks=False):
                            queue.append(entry.path)
                    if total > max_bytes or entries > max_entries:
                        return total, entries
        except OSError as error:
            if error.errno == errno.ENAMETOOLONG:
                return total, max_entries + 1
            if error.errno == errno.EACCES:  # closed to its owner; root would not notice
                if place in opened or not _open_up(place):
                    return total, max_entries + 1
                opened.add(place)
                queue.append(place)
            # else it is gone already
    return total, entries


def _open_up(folder: str) -> bool:
    """Open a folder of our user's that the program has closed; it may put a link there meanwhile."""
    with contextlib.suppress(OSError):
        place = os.open(folder, os.O_PATH | os.O_NOFOLLOW | os.O_DIRECTORY)
        try:
            os.chmod(f"/proc/self/fd/{place}", 0o700)
            return True
        finally:
            os.close(place)
    return False


def starved() -> int:
    """Number of processes of this whole machine that the kernel has killed for want of memory; 0 where it does not say."""
    with contextlib.suppress(OSError):
        return int(table("/proc/vmstat").get(b"oom_kill", 0))
    return 0


def reap(ended: dict[int, int]) -> bool:
    """Collect who has ended, as pid -> wait status; whether anybody is left. As subreaper, "no child" proves "no descendant"."""
    with contextlib.suppress(ChildProcessError):
        for _ in range(ALL):  # a program may end children faster than they are collected
            pid, status = os.waitpid(-1, os.WNOHANG)
            if not pid:
                break
            ended[pid] = status
        return True
    return False


def _kill_as(uid: int) -> None:
    """kill(-1) as the program's own user: one system call ends all of its processes, a fork bomb included."""
    pid = os.fork()
    if pid == 0:
        try:
            os.setresuid(uid, uid, uid)
            if uid != 0 and os.getresuid() == (uid, uid, uid):  # as root it would be every process of the machine
                os.kill(-1, signal.SIGKILL)
        finally:
            os._exit(0)
    with contextlib.suppress(ChildProcessError):
        os.waitpid(pid, 0)


def kill_all(uid: int | None, ended: dict[int, int]) -> bool:
    """End every descendant and collect it in `ended`; whether nothing is left."""
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGCHLD])  # so that none that comes now is missed
    deadline = time.monotonic() + KILL_PATIENCE_S
    pause = 0.0005
    while reap(ended):
        if time.monotonic() > deadline:
            return False
        if uid is not None:
            _kill_as(uid)
        for pid in descendants():
            with contextlib.suppress(OSError):
                resource.prlimit(pid, resource.RLIMIT_NPROC, (0, 0))  # it may fork no more (unless it is root)
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
                # to die it has to run, and among hundreds that fork its turn comes late; after the signal it runs no code
                # of its own, and cannot fork
                os.sched_setscheduler(pid, os.SCHED_RR, os.sched_param(1))
        signal.sigtimedwait([signal.SIGCHLD], pause)
        pause = min(0.02, 2 * pause)
    return True
