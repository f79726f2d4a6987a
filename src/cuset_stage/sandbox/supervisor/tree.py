"""The process tree below this process: find the processes, measure what they use, and kill them all.

A program may do anything to get out of sight: fork faster than anybody can list it, hide memory in deleted files and
sockets, or close its folders. So most functions here stop early at a maximum, and ignore processes that end meanwhile.
"""

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
# A look reads at most this many mappings and open files of all processes. A deleted file counts as 20 of them, because
# the kernel takes 100 us to find one.
MOST_HELD, DELETED_HELD = 2**17, 20
_PRIVATE = (b"RssAnon", b"VmSwap", b"VmPTE", b"HugetlbPages")  # a process's private memory, in /proc/PID/status
_DELETED = b" (deleted)"
_IN_MEMORY = (b"/dev/zero", b"/memfd:", b"/dev/shm/", b"/SYSV")  # how the names of shared memory begin in /proc
_NETWORK = ("unix", "netlink", "tcp", "tcp6", "udp", "udp6")
_CAP_SYS_PTRACE = 1 << 19
_PF_FORKNOEXEC, _KCMP_VM = 1 << 6, 1
_LIBC = ctypes.CDLL(None)
KILL_PATIENCE_S = 30.0  # a driver may take seconds to tear a context down


def read(path: str, most: int = 65536) -> bytes:
    """Return up to `most` bytes of a file in one read, which is all of a short file.

    With -1 it reads to the end, as is needed for files that the kernel returns page by page.
    """
    with open(path, "rb", buffering=0) as file:
        return file.read(most)


def table(path: str) -> dict[bytes, bytes]:
    """Return name -> first word after it, for a file with lines such as `VmRSS:  12 kB`."""
    words = (line.split() for line in read(path).split(b"\n"))  # a name may contain other line ends
    return {line[0].rstrip(b":"): line[1] for line in words if len(line) > 1}


def descendants(most: int = ALL) -> list[int]:
    """Return the pids of all processes below this one, parents first, including zombies that nobody has waited for.

    The search stops when more than `most` are found, because a tree may grow faster than anybody can walk it.
    """
    pids: list[int] = []
    queue = [os.getpid()]
    while queue and len(pids) <= most:
        tasks = f"/proc/{queue.pop(0)}/task"
        with contextlib.suppress(OSError):
            for thread in os.listdir(tasks):
                with contextlib.suppress(OSError):
                    children = [int(pid) for pid in read(f"{tasks}/{thread}/children", -1).split()]
                    pids += children
                    queue += children
    return pids


class Usage(NamedTuple):
    """What some processes use together.

    Attributes:
        processes: The number of living processes.
        threads: The number of their threads.
        cpu_seconds: Their CPU time.
        own: Bytes of private memory. Pages that several processes share count for each (see `shared_fairly`).
        largest: The largest share in `own` of one process. It is never more than what all have together.
        shared: Bytes of shared memory, where shared pages count for each process.
        files: Bytes of mapped files and of mapped device memory.
        threads_of: The id of a living thread of each process. Through it /proc shows the process's memory and files,
            which it does not through the first thread if that has ended.
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
    """Return the fields of /proc/PID/stat after the name. The first is the state."""
    return read(f"/proc/{pid}/stat").rpartition(b")")[2].split()


def _ended(fields: list[bytes]) -> bool:
    return fields[0] in (b"Z", b"X")


def _is_fork(pid: int) -> bool:
    """Return True if the process has not called exec since it was forked."""
    with contextlib.suppress(OSError):
        return bool(int(_stat(pid)[6]) & _PF_FORKNOEXEC)
    return False


def _borrows_memory(pid: int, fields: list[bytes]) -> bool:
    """Return True if the process uses its parent's memory, as it does after a vfork until it calls exec."""
    if not int(fields[6]) & _PF_FORKNOEXEC:
        return False
    kcmp = {"x86_64": 312, "aarch64": 272}.get(os.uname().machine, -1)
    return _LIBC.syscall(kcmp, pid, int(fields[1]), _KCMP_VM, 0, 0) == 0


def _has_memory(pid: int) -> bool:
    """Return True if the process has memory. One that is ending has none, and only root may look at the rest of it."""
    try:
        return b"VmRSS" in table(f"/proc/{pid}/status")
    except OSError:
        return False


def measure(pids: list[int]) -> Usage:
    """Return the sum of what the processes use now."""
    threads = own = largest = shared = files = 0
    cpu_seconds = 0.0
    living = []
    for pid in pids:
        with contextlib.suppress(OSError, ValueError):  # the process may have ended meanwhile
            fields = _stat(pid)
            if _ended(fields):  # the first thread has ended, but others may live
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
            private = 1024 * sum(int(status.get(name, 0)) for name in _PRIVATE)
            own, largest = own + private, max(largest, private)
            shared += 1024 * int(status.get(b"RssShmem", 0))
            files += 1024 * int(status.get(b"RssFile", 0))
    return Usage(len(living), threads, cpu_seconds, own, largest, shared, files, living)


def shared_fairly(threads_of: list[int]) -> tuple[int, int] | None:
    """Return the bytes of private and of shared memory, with each shared page counted once (PSS).

    This is exact but slow, so it is called only if the quick sum of `measure` is too high. Memory that a driver has
    given, such as CUDA's managed memory on the host, counts as private memory of its process. For `threads_of` see
    `Usage`.

    Returns:
        (own, shared), or None if a process may not be read, or if they have more than MOST_HELD mappings.
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
    """Return the resident bytes of the mappings of NVIDIA's devices."""
    total, counts = 0, False
    with open(f"/proc/{pid}/smaps", "rb") as smaps:
        for line in smaps:
            words = line.split()
            if not words[0].endswith(b":"):  # the header of a mapping, which the next lines describe
                counts = words[-1].startswith(b"/dev/nvidia")
            elif counts and words[0] == b"Rss:":
                total += 1024 * int(words[1])
    return total


class OutOfSight:
    """What processes hold that is neither in their own memory nor has a name.

    These are deleted files, shared memory, and data in flight in sockets and pipes.

    Only root may look at a file that is mapped but not open. If this process is not root, such a file counts up to the
    end of the mappings seen so far if it is in memory, and as `unseen_bytes` if it is on the disk.

    Args:
        unseen_bytes: What counts for a deleted file on the disk that this process may not look at.
        same_user: The processes have the user of this process, so only those that hide something are closed to it. If
            False, this process needs CAP_SYS_PTRACE to look at them.
        contained: The processes have a /dev/shm of their own, of which everything counts.
        network: The processes also have a network of their own, in which sockets may belong to none of them.

    Attributes:
        held: Number of mappings and open files that the last look has read. A look ends when it is above MOST_HELD.
    """

    def __init__(self, unseen_bytes: float, *, same_user: bool, contained: bool, network: bool) -> None:
        self._unseen_bytes = unseen_bytes
        self._contained, self._network = contained, network
        self._shared_memory = -1  # device number of the processes' own /dev/shm
        self._may_look = same_user or bool(int(table("/proc/self/status")[b"CapEff"], 16) & _CAP_SYS_PTRACE)
        self._sizes: dict[object, tuple[bool, float]] = {}  # file -> (True if it is in memory, bytes), of this look
        self._before = self._sizes  # the same of the look before
        self._in_flight: set[bytes] = set()  # sockets and pipes
        self._measured: set[object] = set()  # mapped files whose size is known
        self._first: int | None = None
        self._begins = True  # at the last look, the first process may not yet have been the program
        self.held = 0

    def look(self, threads_of: list[int]) -> tuple[float, float, float]:
        """Return the bytes in sockets and pipes, in memory, and on the disk.

        Sockets and pipes count for all that they may hold. If a process may not be looked at, the first number is
        infinite. For `threads_of` see `Usage`.
        """
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
                            sockets += read(f"/proc/{pid}/net/{name}", -1).count(b"\n") - 1
            except PermissionError:
                # The first process was forked by the shell that nobody may look into (isolation.py). It may become the
                # program between two of these calls, so one more look is allowed to fail.
                if pid == self._first and (self._begins or _is_fork(pid)):
                    self._begins = _is_fork(pid)
                elif self._may_look and _has_memory(pid):
                    return float("inf"), 0, 0
            except OSError:
                continue
        sizes = self._sizes.values()
        memory, disk = (sum(size for in_memory, size in sizes if in_memory is wanted) for wanted in (True, False))
        pipes = sum(name.startswith(b"pipe:") for name in self._in_flight)
        sockets = max(sockets, len(self._in_flight) - pipes)
        return sockets * socket_bytes(self._network) + pipe_bytes(pipes), memory, disk

    def _look_at(self, pid: int) -> None:
        """Note the sockets, pipes and deleted files that one process has open or mapped."""
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
        """Note the size of a deleted file, or what counts for it where this process may not look at it.

        Args:
            path: Where /proc shows the file.
            target: What the kernel calls it.
            name: The key of a mapped file, (device, inode).
            mapped: The end of the mapping, as an offset in the file.
        """
        in_memory = target.startswith(_IN_MEMORY)
        try:
            info = os.stat(path)
            self.held += DELETED_HELD
            self._measured.add(name)
            if stat.S_ISREG(info.st_mode) and info.st_dev != self._shared_memory:
                self._sizes[info.st_dev, info.st_ino] = in_memory, info.st_blocks * 512
        except PermissionError:
            earlier = (sizes[name][1] for sizes in (self._before, self._sizes) if name in sizes)
            self._sizes[name] = in_memory, max(mapped, *earlier, 0) if in_memory else self._unseen_bytes


def _setting(name: str, default: int) -> int:
    """Return a number below /proc/sys. If the file has several, it is the last."""
    with contextlib.suppress(OSError, ValueError):
        return int(read(f"/proc/sys/{name}").split()[-1])
    return default


@functools.cache
def socket_bytes(network: bool) -> int:
    """Return the most bytes that a socket may hold, as the kernel counts them.

    They are a buffer, which no program may make larger (confine.py), and one message beyond it, which takes up to
    twice its size. A TCP buffer grows by itself, so the largest size that the kernel allows counts if there is a
    network.
    """
    most = 3 * max(_setting(f"net/core/{way}mem_default", 212_992) for way in "rw")
    return max(most, _setting("net/ipv4/tcp_wmem", 4 * 2**20)) if network else most


def pipe_bytes(count: int) -> int:
    """Return the most bytes that `count` pipes of one user may hold.

    They are pages of memory, each of which belongs to one pipe alone, because confine.py refuses the calls that would
    put other pages into a pipe.
    """
    all_of_user = _setting("fs/pipe-user-pages-soft", 16384) * 4096 or count * 2**20
    return min(count * _setting("fs/pipe-max-size", 2**20), all_of_user + count * 8192)


def folder_usage(folder: str, max_bytes: float, max_entries: float) -> tuple[int, float]:
    """Return the bytes on disk and the number of entries below a folder, or stop as soon as a maximum is passed.

    Two cases are reported as too many entries, because nobody makes them with good intent: a path too long for the
    kernel, and a folder that is closed again after this function opened it.
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
            if error.errno == errno.EACCES:  # the program has closed the folder to its owner. Root never gets here.
                if place in opened or not _open_up(place):
                    return total, max_entries + 1
                opened.add(place)
                queue.append(place)
            # Any other error: the folder is gone already.
    return total, entries


def _open_up(folder: str) -> bool:
    """Open a folder of this user that the program has closed. Return True if that worked.

    It goes through a descriptor, because the program may put a link in the folder's place meanwhile.
    """
    with contextlib.suppress(OSError):
        place = os.open(folder, os.O_PATH | os.O_NOFOLLOW | os.O_DIRECTORY)
        try:
            os.chmod(f"/proc/self/fd/{place}", 0o700)
            return True
        finally:
            os.close(place)
    return False


def starved() -> int:
    """Return how many processes of the machine the kernel has killed for lack of memory, or 0 if it does not say."""
    with contextlib.suppress(OSError):
        return int(table("/proc/vmstat").get(b"oom_kill", 0))
    return 0


def reap(ended: dict[int, int]) -> bool:
    """Reap the children that have ended, into `ended` (pid -> wait status), and return True if any child is left.

    Because this process is a subreaper, "no child" proves "no descendant".
    """
    with contextlib.suppress(ChildProcessError):
        for _ in range(ALL):  # a program may end children faster than they are collected
            pid, status = os.waitpid(-1, os.WNOHANG)
            if not pid:
                break
            ended[pid] = status
        return True
    return False


def _kill_as(uid: int) -> None:
    """Call kill(-1) as the program's own user. This one system call ends all of its processes, even a fork bomb."""
    pid = os.fork()
    if pid == 0:
        try:
            os.setresuid(uid, uid, uid)
            if uid != 0 and os.getresuid() == (uid, uid, uid):  # as root it would kill every process of the machine
                os.kill(-1, signal.SIGKILL)
        finally:
            os._exit(0)
    with contextlib.suppress(ChildProcessError):
        os.waitpid(pid, 0)


def kill_all(uid: int | None, ended: dict[int, int]) -> bool:
    """Kill and reap every descendant. Return True if nothing is left, False if some do not die in KILL_PATIENCE_S.

    The user `uid` is one that only this program has, or None. For `ended` see `reap`.
    """
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGCHLD])  # so that sigtimedwait misses none
    deadline = time.monotonic() + KILL_PATIENCE_S
    pause = 0.0005
    while reap(ended):
        if time.monotonic() > deadline:
            return False
        if uid is not None:
            _kill_as(uid)
        for pid in descendants():
            with contextlib.suppress(OSError):
                resource.prlimit(pid, resource.RLIMIT_NPROC, (0, 0))  # no more forks (except as root)
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
                # To die, a process has to run, and among hundreds that fork its turn comes late. Real-time priority is
                # safe here: after the signal the process runs no code of its own and cannot fork.
                os.sched_setscheduler(pid, os.SCHED_RR, os.sched_param(1))
        signal.sigtimedwait([signal.SIGCHLD], pause)
        pause = min(0.02, 2 * pause)
    return True
