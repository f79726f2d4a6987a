"""Start the program, watch it, end it and everything it started, and say what happened."""

from __future__ import annotations

import contextlib
import ctypes
import os
import resource
import select
import signal
import time

from confine import become_program, works_as
from run_files import CappedFile, copy_file, folder_usage
from seccomp import ALLOW_ALL, build_filter
from tree import descendants, hidden_files, kill_all, measure, reap, share_fairly, starved


# between two looks at the processes: quick at first, since most programs are short
SHORTEST_S, LONGEST_S = 0.002, 0.02
ANNOUNCE_FD, RELEASE_FD = 9, 8  # on which isolation.py's prefix says that all is set up, and waits before it begins
SET_UP_S = 60.0  # what bubblewrap may take before the program begins
GRACE_S = 0.005  # for bubblewrap's process namespace to end after bubblewrap
SLOW_FACTOR = 20  # counting files may take a twentieth of the time
OPEN_TO_ALL = ("/tmp", "/var/tmp", "/dev/shm", "/dev/mqueue")


class Run:
    """One program, from start to the last process it left."""

    def __init__(self, request: dict) -> None:
        self.request = request
        self.limits = request["limits"]
        self.most = {name: float("inf") if value is None else value for name, value in self.limits.items()}
        self.stopped: str | None = None
        self.peak = 0
        self.status: int | None = None
        self.begin: float | None = None  # when the program began; in bubblewrap, that takes a while
        self.end: float | None = None
        self.is_ready = self.may_go = False
        self.ready = self.bwrap_status = self.release = -1  # pipes of bubblewrap's
        self.next_count = 0.0
        self.hidden_memory = 0
        own = 2 if request["prefix"] else 0  # bubblewrap's two processes
        self.processes = self.limits["processes"] + own
        self.threads = request["threads"] + own

    def start(self, stdout: int, stderr: int) -> str | None:
        """Fork and exec; the reason when that fails."""
        for fd in (ANNOUNCE_FD, RELEASE_FD):
            os.dup2(0, fd, inheritable=False)  # so that nothing else gets these numbers
        reading, report = os.pipe()
        own: list[int] = []
        if self.request["prefix"]:
            self.bwrap_status, status = os.pipe()
            self.ready, announce = os.pipe()
            release, self.release = os.pipe()
            filter_end, writing_end = os.pipe()
            os.write(writing_end, build_filter() or ALLOW_ALL)
            os.close(writing_end)
            own += [status, announce, release, filter_end]
            names = {"STATUS_FD": str(status), "FILTER_FD": str(filter_end)}
            self.request["prefix"] = [names.get(part, part) for part in self.request["prefix"]]
        # as root: however many processes and sessions there are, this one runs first
        with contextlib.suppress(OSError):
            os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))
        self.forked = time.monotonic()
        self.pid = os.fork()
        if self.pid == 0:
            if self.request["prefix"]:
                os.dup2(announce, ANNOUNCE_FD)
                os.dup2(release, RELEASE_FD)
                own[1:3] = ANNOUNCE_FD, RELEASE_FD
            become_program(self.request, stdout, stderr, report, own)
        for fd in (report, *own):
            os.close(fd)
        with os.fdopen(reading, "rb") as pipe:
            problem = pipe.read().decode(errors="replace")  # ends at exec
        if not self.request["prefix"]:
            self.begin = time.monotonic()
        return problem or None

    def look(self) -> str | None:
        """Whether a limit is passed now: its name, or None."""
        most = self.most
        now = time.monotonic()
        pids = descendants(4 * self.processes)  # not all: zombies count here, and are no processes any more
        if len(pids) > 4 * self.processes:
            return "processes"
        usage = measure(pids)
        if usage.processes > self.processes or usage.threads > self.threads:
            return "processes"
        if usage.cpu_seconds + _cpu_seconds() > most["cpu_s"]:
            return "cpu"
        if usage.processes > 1 and usage.memory_bytes(self.hidden_memory) > most["memory_bytes"]:
            share_fairly(usage, pids)
        memory = usage.memory_bytes(self.hidden_memory)
        self.peak = max(self.peak, memory)
        if memory > most["memory_bytes"]:
            return "memory"
        if now >= self.next_count:
            self.hidden_memory, hidden_disk = hidden_files(pids)
            size, entries = folder_usage(self.request["folder"], most["folder_bytes"], most["folder_entries"])
            took = time.monotonic() - now
            self.next_count = now + max(0.05, SLOW_FACTOR * took)
            if size + hidden_disk > most["folder_bytes"] or entries > most["folder_entries"]:
                return "disk"
        return None

    def watch(self, outputs: list[CappedFile]) -> None:
        """Until the program ends or a limit is passed. The judge may stop it, by a word on stdin or by going away."""
        reading, writing = os.pipe()
        os.set_blocking(writing, False)
        signal.set_wakeup_fd(writing)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        poll = select.poll()
        poll.register(reading, select.POLLIN)
        poll.register(0, select.POLLIN | select.POLLHUP)
        with contextlib.suppress(OSError, AttributeError):  # a fork of the judge may hold the other end of stdin open
            poll.register(os.pidfd_open(self.request["judge"]), select.POLLIN)
        if self.begin is None:
            poll.register(self.ready, select.POLLIN)
        pause = SHORTEST_S
        while self.stopped is None:
            ended, _ = reap()
            if self.pid in ended:
                self.status = ended[self.pid]
                break
            if self.begin is not None:
                for output in outputs:
                    output.trim()
                self.stopped = self.look()
                left = self.begin + self.limits["wall_s"] - time.monotonic()
                if self.stopped is None and left <= 0:
                    self.stopped = "wall"
                wait = min(pause, left)
                pause = min(LONGEST_S, pause * 1.5)
            else:
                wait = left = self.forked + SET_UP_S - time.monotonic()
                if left <= 0 and not self.is_ready:
                    self.stopped = "set-up"
                if self.is_ready:  # for `go`, however long that takes
                    wait = None
            if self.stopped is not None:
                break
            for fd, _ in poll.poll(None if wait is None else max(1, 1000 * wait)):
                if fd == reading:
                    os.read(reading, 4096)
                elif fd == self.ready and self.begin is None:
                    poll.unregister(fd)
                    # else it was closed: the program cannot be run, and bubblewrap is about to say so
                    self.is_ready = bool(os.read(fd, 1))
                elif fd == 0:
                    self.heed()
                else:
                    self.stopped = "judge"
            if self.is_ready and self.may_go and self.begin is None:
                self.begin = time.monotonic()
                os.write(self.release, b"\n")
        self.end = time.monotonic()

    def heed(self) -> None:
        """What the judge says: "go", or the limit that it saw passed, or nothing when it is gone."""
        words = b""
        with contextlib.suppress(ConnectionResetError):  # gone, and did not read what it was sent
            words = os.read(0, 4096)
        for word in words.decode().split() or ["judge"]:
            if word == "go":
                self.may_go = True
            else:
                self.stopped = word

    def returncode(self) -> int | None:
        """As subprocess has it: negative is a signal. None when we stopped it, or bubblewrap did not see it from begin to end."""
        if self.status is None:
            return None
        code = os.waitstatus_to_exitcode(self.status)
        if not self.request["prefix"]:
            return code
        with os.fdopen(self.bwrap_status, "rb") as pipe:
            reported = pipe.read()
        if b'"exit-code"' not in reported or self.begin is None:
            return None
        return 128 - code if 128 < code < 128 + signal.NSIG else code


def _prepare(request: dict) -> None:
    """Copy inputs in, and choose the user: one of its own when this is root, and it may use what the run needs."""
    for source, target, mode in request["copies"]:
        copy_file(source, target, mode)
    uid = request["uid"]
    if uid is None:
        return
    _give(request["folder"], uid)
    if not request["prefix"] and not works_as(uid, request["needed"]):
        _give(request["folder"], os.geteuid())
        request["uid"] = None


def _give(folder: str, uid: int) -> None:
    """The folder and those in it, as yet all of our making, to a user."""
    for place, folders, _ in os.walk(folder):
        for name in [".", *folders]:
            os.chown(os.path.join(place, name), uid, uid, follow_symlinks=False)


def _sweep(uid: int) -> None:
    """Remove what the program's own user left in folders that everybody may write to, and its System V objects."""
    libc = ctypes.CDLL(None)
    for kind, number, remove in (
        ("shm", "shmid", lambda it: libc.shmctl(it, 0, None)),
        ("msg", "msqid", lambda it: libc.msgctl(it, 0, None)),
        ("sem", "semid", lambda it: libc.semctl(it, 0, 0)),
    ):
        with contextlib.suppress(OSError), open(f"/proc/sysvipc/{kind}") as listing:
            names = listing.readline().split()
            for line in listing:
                row = dict(zip(names, line.split(), strict=False))
                if str(uid) in (row.get("uid"), row.get("cuid")):
                    remove(int(row[number]))
    for place in OPEN_TO_ALL:
        with contextlib.suppress(OSError), os.scandir(place) as listing:
            for entry in listing:
                with contextlib.suppress(OSError):
                    if entry.stat(follow_symlinks=False).st_uid == uid and not entry.is_dir(follow_symlinks=False):
                        os.unlink(entry.path)


def _ended(current: Run, clean: bool, said: str) -> tuple[int | None, str | None, str | None]:
    """(exit code, the limit that stopped it, what of ours failed): of the last two at most one."""
    if not clean:
        left = ", ".join(map(str, descendants()[:8]))
        return None, None, f"processes that do not die (stuck in the kernel or the GPU driver?): {left}"
    if current.stopped == "set-up":
        return None, None, f"bubblewrap did not start the program within {SET_UP_S:.0f} s"
    if current.stopped is not None:
        return None, current.stopped, None
    code = current.returncode()
    if code is None:
        how = "did not start the program" if current.begin is None else "was ended before the program"
        return None, None, f"bubblewrap {how}: {said.strip()[-500:]}"
    if code in (-signal.SIGXCPU, -signal.SIGKILL) and _cpu_seconds() >= current.most["cpu_s"]:
        return None, "cpu", None
    return (None, "disk", None) if code == -signal.SIGXFSZ else (code, None, None)


def _cpu_seconds() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def run(request: dict) -> dict:
    """The whole of one run; the answer as a dictionary."""
    outputs = [
        CappedFile(request["control"], name, request["limits"]["output_bytes"]) for name in ("stdout", "stderr")
    ]
    starved_before = starved()
    current = Run(request)
    problem: str | None = None
    try:
        _prepare(request)
        while not request["prefix"] and not current.may_go and current.stopped is None:
            current.heed()  # without bubblewrap nothing takes long enough to be done ahead
        if current.stopped is None:
            problem = current.start(outputs[0].fd, outputs[1].fd)
            if problem is None:
                current.watch(outputs)
    except OSError as error:
        problem = f"{error.strerror}: {error.filename}"
    ends_itself = bool(request["prefix"]) and current.status is not None
    collected, clean = kill_all(request["uid"], GRACE_S if ends_itself else 0.0)
    if current.status is None and current.stopped is None and problem is None:
        current.status = collected.get(current.pid)
    if request["uid"] is not None and not request["prefix"]:
        _sweep(request["uid"])
    code = stopped = None
    if problem is None or not clean:
        code, stopped, problem = _ended(current, clean, outputs[1].text())
    short = starved() > starved_before
    if code == -signal.SIGKILL and short:
        problem = "the kernel killed it for want of memory: this machine has less than its limit allows, or is shared by too many"
    return {
        "returncode": code,
        "stopped": stopped,
        "seconds": max(0.0, current.end - current.begin) if current.begin and current.end else 0.0,
        "cpu_seconds": _cpu_seconds(),
        "peak_memory_bytes": max(current.peak, 1024 * resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss),
        "stdout": outputs[0].text(),
        "stderr": outputs[1].text(),
        "infra": problem,
        "starved": short,
    }
