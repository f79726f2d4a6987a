"""The processes below this one, what they and their folder use, and how to end them all."""

from __future__ import annotations

import contextlib
import errno
import glob
import os
import resource
import signal
import stat
import time


TICK = os.sysconf("SC_CLK_TCK")
ALL = 4096
KILL_PATIENCE_S = 30.0  # a driver may take seconds to tear a context down


def _read(path: str) -> bytes:
    with open(path, "rb", buffering=0) as file:
        return file.read(65536)


def _table(path: str) -> dict[bytes, bytes]:
    """The first word after each name, of a file with lines such as `VmRSS:  12 kB`."""
    words = (line.split() for line in _read(path).splitlines())
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
                    below = [int(pid) for pid in _read(f"{tasks}/{thread}/children").split()]
                    found += below
                    queue += below
    return found


def measure(pids: list[int]) -> tuple[int, int, float, int, int]:
    """(processes, threads, CPU seconds, anonymous bytes, shared bytes); pages that several share count for each (see `shared_fairly`)."""
    processes = threads = own = shared = 0
    cpu_seconds = 0.0
    for pid in pids:
        try:
            status = _table(f"/proc/{pid}/status")
            fields = _read(f"/proc/{pid}/stat").rpartition(b")")[2].split()
        except (OSError, ValueError):
            continue
        if fields[0] in (b"Z", b"X"):
            continue
        processes += 1
        threads += int(fields[17])
        cpu_seconds += sum(map(int, fields[11:15])) / TICK
        own += 1024 * int(status.get(b"RssAnon", status.get(b"VmRSS", 0)))
        shared += 1024 * int(status.get(b"RssShmem", 0))
    return processes, threads, cpu_seconds, own, shared


def shared_fairly(pids: list[int]) -> tuple[int, int] | None:
    """(anonymous, shared) bytes with each shared page counted once (PSS): exact and slow, asked only when the quick sum is too high.

    None where one of them is not ours to read.
    """
    own = shared = 0
    for pid in pids:
        try:
            rollup = _table(f"/proc/{pid}/smaps_rollup")
        except (ProcessLookupError, FileNotFoundError):
            continue
        except OSError:
            return None
        own += 1024 * int(rollup.get(b"Pss_Anon", 0))
        shared += 1024 * int(rollup.get(b"Pss_Shmem", 0))
    return own, shared


def hidden_files(pids: list[int]) -> tuple[int, int]:
    """Bytes of (memory, disk) in files without a name that the processes hold open: memfd_create, or deleted but not closed."""
    memory = disk = 0
    seen = set()
    for pid in pids:
        for link in glob.iglob(f"/proc/{pid}/fd/*"):
            with contextlib.suppress(OSError):
                target, info = os.readlink(link), os.stat(link)
                file = (info.st_dev, info.st_ino)
                if target.endswith(" (deleted)") and stat.S_ISREG(info.st_mode) and file not in seen:
                    seen.add(file)
                    if target.startswith(("/memfd:", "/dev/shm/", "/SYSV")):
                        memory += info.st_blocks * 512
                    else:
                        disk += info.st_blocks * 512
    return memory, disk


def folder_usage(folder: str, max_bytes: float, max_entries: float) -> tuple[int, float]:
    """(bytes on disk, entries) below the folder; stops counting as soon as a maximum is passed.

    A path too long for the kernel counts as too many entries: nobody nests that deep with good intent.
    """
    total = entries = 0
    queue = [folder]
    while queue:
        try:
            with os.scandir(queue.pop()) as listing:
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
            # else it is gone already, or closed to us (then the program cannot write there either)
    return total, entries


def starved() -> int:
    """How many processes of this whole machine the kernel has killed for want of memory; 0 where it does not say."""
    with contextlib.suppress(OSError):
        return int(_table("/proc/vmstat").get(b"oom_kill", 0))
    return 0


def reap(ended: dict[int, int]) -> bool:
    """Collect who has ended, as pid -> wait status; whether anybody is left. As subreaper, "no child" proves "no descendant"."""
    with contextlib.suppress(ChildProcessError):
        while (one := os.waitpid(-1, os.WNOHANG))[0]:
            ended[one[0]] = one[1]
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
