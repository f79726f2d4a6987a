"""Start the program, watch it, end it and everything it started, and say what happened."""

from __future__ import annotations

import contextlib
import ctypes
import os
import resource
import select
import signal
import socket
import time

from confine import become_program
from run_files import CappedFile, copy_file, folder_usage
from seccomp import ALLOW_ALL, build_filter
from tree import descendants, hidden_files, kill_all, measure, reap, shared_fairly, starved


# between two looks at the processes: quick at first, since most programs are short
SHORTEST_S, LONGEST_S = 0.002, 0.02
GATE_FD = 9  # on which isolation.py's prefix says that all is set up, and waits before it begins
SET_UP_S = 60.0  # what bubblewrap may take before the program begins
SLOW_FACTOR = 20  # counting files may take a twentieth of the time
OPEN_TO_ALL = ("/tmp", "/var/tmp", "/dev/shm", "/dev/mqueue")


class Run:
    """One program, from start to the last process it left."""

    def __init__(self, request: dict) -> None:
        self.request = request
        self.most = {name: float("inf") if value is None else value for name, value in request["limits"].items()}
        self.stopped: str | None = None
        self.status: int | None = None
        self.begin: float | None = None  # when the program began; in bubblewrap, that takes a while
        self.seconds = 0.0
        self.is_ready = self.may_go = False
        self.gate = self.bwrap_status = -1  # where bubblewrap's side can be heard
        self.next_count = 0.0
        self.hidden_memory = 0
        own = 2 if request["prefix"] else 0  # bubblewrap's two processes
        self.processes = self.most["processes"] + own
        self.threads = request["threads"] + own

    def start(self, stdout: int, stderr: int) -> str | None:
        """Fork and exec; the reason when that fails."""
        os.dup2(0, GATE_FD, inheritable=False)  # so that nothing else gets this number
        reading, report = os.pipe()
        own: list[int] = []
        if self.request["prefix"]:
            ours, its = socket.socketpair()
            self.gate = ours.detach()
            with its:
                os.dup2(its.fileno(), GATE_FD)
            self.bwrap_status, status = os.pipe()
            filter_end, writing_end = os.pipe()
            os.write(writing_end, build_filter() or ALLOW_ALL)
            os.close(writing_end)
            own += [status, filter_end, GATE_FD]
            names = {"STATUS_FD": str(status), "FILTER_FD": str(filter_end)}
            self.request["prefix"] = [names.get(part, part) for part in self.request["prefix"]]
        # as root: however many processes and sessions there are, this one runs first
        with contextlib.suppress(OSError):
            os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))
        self.forked = time.monotonic()
        self.pid = os.fork()
        if self.pid == 0:
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
        processes, threads, cpu_seconds, own, shared = measure(pids)
        if processes > self.processes or threads > self.threads:
            return "processes"
        if cpu_seconds + _cpu_seconds() > most["cpu_s"]:
            return "cpu"
        # `hidden_memory` are files without a name, which are in `shared` only while mapped
        if own + max(shared, self.hidden_memory) > most["memory_bytes"]:
            own, shared = shared_fairly(pids) or (own, shared)
            if own + max(shared, self.hidden_memory) > most["memory_bytes"]:
                return "memory"
        if now >= self.next_count:
            self.hidden_memory, hidden_disk = hidden_files(pids)
            size, entries = folder_usage(self.request["folder"], most["folder_bytes"], most["folder_entries"])
            self.next_count = now + max(0.05, SLOW_FACTOR * (time.monotonic() - now))
            if size + hidden_disk > most["folder_bytes"] or entries > most["folder_entries"]:
                return "disk"
        return "wall" if time.monotonic() > self.begin + most["wall_s"] else None

    def watch(self, outputs: list[CappedFile]) -> None:
        """Until the program ends or a limit is passed. The judge may stop it, by a word on stdin or by going away."""
        poll = select.poll()
        poll.register(0, select.POLLIN | select.POLLHUP)
        if self.begin is None:
            poll.register(self.gate, select.POLLIN)
        program = judge = -1
        with contextlib.suppress(OSError, AttributeError):  # before Linux 5.3 the pauses have to do
            program, judge = os.pidfd_open(self.pid), os.pidfd_open(self.request["judge"])
            poll.register(program, select.POLLIN)
            poll.register(judge, select.POLLIN)  # a fork of it may hold the other end of stdin open
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
                pause = min(LONGEST_S, pause * 1.5)
            elif not self.is_ready and time.monotonic() > self.forked + SET_UP_S:
                self.stopped = "set-up"
            if self.stopped is not None:
                break
            for fd, _ in poll.poll(1000 * (pause if self.begin is not None else 1)):
                if fd == self.gate and self.begin is None:
                    poll.unregister(fd)
                    # else it was closed: the program cannot be run, and bubblewrap is about to say so
                    self.is_ready = bool(os.read(fd, 1))
                elif fd == 0:
                    self.heed()
                elif fd == judge:
                    self.stopped = "judge"
            if self.is_ready and self.may_go and self.begin is None:
                self.begin = time.monotonic()
                os.write(self.gate, b"\n")
        self.seconds = time.monotonic() - self.begin if self.begin is not None else 0.0

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
        """As subprocess has it: negative is a signal. None when bubblewrap did not see it from begin to end."""
        if self.status is None:
            return None
        code = os.waitstatus_to_exitcode(self.status)
        if not self.request["prefix"]:
            return code
        with os.fdopen(self.bwrap_status, "rb") as pipe:
            if b'"exit-code"' not in pipe.read() or self.begin is None:
                return None
        return 128 - code if 128 < code < 128 + signal.NSIG else code


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


def _prepare(request: dict) -> None:
    """Copy inputs in, and give the folders, as yet all of our making, to the program's own user."""
    for source, target, mode in request["copies"]:
        copy_file(source, target, mode)
    uid = request["uid"]
    for place, folders, _ in os.walk(request["folder"]) if uid is not None else ():
        for name in (".", *folders):
            os.chown(os.path.join(place, name), uid, uid, follow_symlinks=False)


def run(request: dict) -> dict:
    """The whole of one run; the answer as a dictionary."""
    outputs = [CappedFile(request["control"], request["limits"]["output_bytes"]) for _ in ("stdout", "stderr")]
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
    collected, clean = kill_all(request["uid"])
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
        "seconds": current.seconds,
        "stdout": outputs[0].text(),
        "stderr": outputs[1].text(),
        "infra": problem,
        "starved": short,
    }
