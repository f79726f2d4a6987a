"""Start the program, watch it, end it and everything it started, and say what happened."""

import contextlib
import errno
import os
import resource
import select
import shutil
import signal
import socket
import threading
import time

import tree
from confine import ALLOW_ALL, become_program, build_filter
from group import SLACK, Group


# between two looks at the processes: quick at first, since most programs are short
SHORTEST_S, LONGEST_S = 0.002, 0.02
GUARD_S = 0.1  # between two questions for the time and the memory of the largest process
SET_UP_S = 60.0  # what bubblewrap may take before the program begins
# counting files may take a twentieth of the time, and more where it takes so long that a second would pass unseen
SLOW_FACTOR, LONGEST_UNSEEN_S = 20, 1.0
# In bubblewrap, as the program's user: say that all is set up, of a command that can be run, and run it.
# bubblewrap makes of a death by signal N the exit code 128 + N, which a program may return as well; a shell says on its stderr, which is
# REPORT, that a signal came. (A shell knows descriptors of one digit; there are few yet.)
BEGIN = (
    'command -v -- "$0" >/dev/null || exec "$0"; exec 9>&2 2>&REPORT REPORT>&-; echo >&2; '
    '(exec "$0" "$@" 2>&9 9>&-); exit $?'
)


class OutOfTime(Exception):
    """The time limit has passed."""


def _interrupt(number: int, frame: object) -> None:
    raise OutOfTime


class CappedFile:
    """A file without a name that a program writes to; when it grows past the cap, its middle is thrown away.

    The program gets the descriptor in append mode, so that it goes on at the new end after the file was cut.
    """

    def __init__(self, folder: str, cap: int) -> None:
        path = os.path.join(folder, f"cuset-{os.urandom(8).hex()}")
        self.fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_CLOEXEC, 0o600)
        os.unlink(path)
        self.cap, self.half = cap, max(1, cap // 2)
        self.head = self.tail = b""
        self.cut = 0  # bytes that were in the file and are no more

    def trim(self, slack: int = 1 << 20) -> None:
        """Keep the first and the last half of the cap when more than `slack` beyond it is on disk."""
        size = os.fstat(self.fd).st_size
        if size > self.cap + slack:
            self.head = self.head or os.pread(self.fd, self.half, 0)
            self.tail = os.pread(self.fd, self.half, size - self.half)
            os.ftruncate(self.fd, 0)
            self.cut += size

    def text(self) -> str:
        """What was written, or its head and tail with a line between them that counts what is missing."""
        self.trim(0)
        rest = os.pread(self.fd, self.cap, 0)
        if self.cut:
            missing = self.cut + len(rest) - 2 * self.half
            rest = self.head + f"\n[... {missing} bytes left out ...]\n".encode() + (self.tail + rest)[-self.half :]
        return rest.decode(errors="replace")


class Run:
    """One program, from start to the last process it left."""

    def __init__(self, request: dict, group: Group | None) -> None:
        self.request = request
        self.most = {name: float("inf") if value is None else value for name, value in request["limits"].items()}
        self.stdout, self.stderr = (CappedFile(request["control"], self.most["output_bytes"]) for _ in range(2))
        self.stopped: str | None = None
        self.ended: dict[int, int] = {}  # pid -> wait status
        self.pid = self.report = -1
        self.begin = time.monotonic()
        self.seconds = self.slowest_look = 0.0
        self.next_count = 0.0
        self.in_flight = self.hidden_memory = 0.0
        self.ended_watch, self.overran = threading.Event(), None
        unseen_bytes = min(self.most["file_bytes"], self.most["folder_bytes"])
        self.out_of_sight = tree.OutOfSight(
            unseen_bytes,
            same_user=request["uid"] is None,
            contained=bool(request["prefix"]),
            network=request["network"] and bool(request["prefix"]),
        )
        self.own = 2 if request["prefix"] else 0  # bubblewrap and its shell
        self.processes = self.most["processes"] + self.own
        self.threads = request["threads"] + self.own
        self.group = group

    def prepare(self) -> None:
        """What has to be there before the program's first process."""
        if not os.path.exists(f"/proc/self/task/{os.getpid()}/children"):
            raise OSError(errno.ENOSYS, "this kernel lists no children of a process (CONFIG_PROC_CHILDREN)", "/proc")
        if self.group is not None:
            self.group.begin(self.most["memory_bytes"] + SLACK)
        folder, uid = self.request["folder"], self.request["uid"]
        for name, source in self.request["copies"].items():
            target = os.path.join(folder, name)
            os.makedirs(os.path.dirname(target), exist_ok=True)
            shutil.copyfile(source, target)
            os.chmod(target, 0o555 if os.access(source, os.X_OK) else 0o444)
        # the folders, as yet all of our making, are the program's own user's
        for place, folders, _ in os.walk(folder) if uid is not None else ():
            for name in (".", *folders):
                os.chown(os.path.join(place, name), uid, uid, follow_symlinks=False)

    def start(self) -> str | None:
        """Fork and exec, and wait until the program begins; the reason when it does not."""
        # what the child says, see become_program and BEGIN; a socket can be opened by no path of /proc
        self.report, report = (end.detach() for end in socket.socketpair())
        own: list[int] = []
        if prefix := self.request["prefix"]:
            filter_end, writing_end = os.pipe()
            os.write(writing_end, build_filter(contained=True, network=self.request["network"]) or ALLOW_ALL)
            os.close(writing_end)
            own = [filter_end, report]
            prefix[1:1] = ["--seccomp", str(filter_end)]
            prefix += [self.request["shell"], "-c", BEGIN.replace("REPORT", str(report))]
        # as root: however many processes and sessions there are, this one runs first
        with contextlib.suppress(OSError):
            os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))
        self.pid = os.fork()
        if self.pid == 0:
            become_program(self.request, self.stdout.fd, self.stderr.fd, report, own)
        for fd in {report, *own, *self.request["stdin"]}:
            os.close(fd)
        if not select.select([self.report], [], [], SET_UP_S)[0]:
            return f"bubblewrap did not start the program within {SET_UP_S:.0f} s"
        said = os.read(self.report, 1)
        if said not in (b"", b"\n"):
            return (said + os.read(self.report, 4096)).decode(errors="replace")
        if prefix and not said:
            return f"bubblewrap did not start the program: {self.stderr.text().strip()[-500:]}"
        self.begin = time.monotonic()
        return None

    def watch(self) -> None:
        """Until the program ends, a limit is passed, or the judge closes its end of the socket: it wants this to stop, or is gone.

        A look may take as long as the program makes it; the time limit interrupts it, or ends what it waits for (`guard`).
        """
        signal.signal(signal.SIGALRM, _interrupt)
        guard = threading.Thread(target=self.guard, daemon=True)
        try:
            guard.start()
            signal.setitimer(signal.ITIMER_REAL, self.most["wall_s"], 1.0)
            pause = SHORTEST_S
            while True:
                tree.reap(self.ended)
                if self.pid in self.ended:
                    break
                self.stdout.trim()
                self.stderr.trim()
                begin = time.monotonic()
                self.stopped = self.look()
                self.slowest_look = max(self.slowest_look, time.monotonic() - begin)
                if self.stopped is not None:
                    break
                signal.sigtimedwait([signal.SIGCHLD], pause)
                pause = min(LONGEST_S, pause * 1.5)
            # still inside: an alarm before this is caught, and none comes after it
            signal.signal(signal.SIGALRM, signal.SIG_IGN)
        except OutOfTime:
            signal.signal(signal.SIGALRM, signal.SIG_IGN)
            if self.pid not in self.ended:
                self.stopped = self.stopped or "wall"
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            self.ended_watch.set()
            guard.join()
        self.stopped = self.overran or self.stopped
        self.seconds = time.monotonic() - self.begin

    def guard(self) -> None:
        """End the program when its time is over, or when one process has more memory than all may have, even while a look waits.

        A look at mappings and exact sums waits for locks that the program may hold, and no alarm interrupts that. This needs none of them.
        """
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGALRM])  # it is for the look
        latest = self.begin + self.most["wall_s"] + GUARD_S
        while not self.ended_watch.wait(GUARD_S):
            pids = tree.descendants(4 * self.processes)
            if self.group is None and tree.measure(pids).largest > self.most["memory_bytes"]:
                self.overran = self.overran or "memory"
            elif time.monotonic() > latest:
                self.overran = self.overran or "wall"
            else:
                continue
            for pid in pids:
                with contextlib.suppress(OSError):
                    os.kill(pid, signal.SIGKILL)

    def look(self) -> str | None:
        """Whether a limit is passed now: its name, or None."""
        if select.select([0], [], [], 0)[0]:
            return "judge"
        most = self.most
        now = time.monotonic()
        pids = tree.descendants(4 * self.processes)  # not all: zombies count here, and are no processes any more
        if len(pids) > 4 * self.processes:
            return "processes"
        usage = tree.measure(pids)
        if usage.processes > self.processes or usage.threads > self.threads:
            return "processes"
        if usage.cpu_seconds + _cpu_seconds() > most["cpu_s"]:
            return "cpu"
        if self.memory(usage) > most["memory_bytes"]:
            return "memory"
        if now >= self.next_count:
            self.in_flight, self.hidden_memory, hidden_disk = self.out_of_sight.look(usage.threads_of[self.own :])
            if self.out_of_sight.held > tree.MOST_HELD:
                return "mappings"
            size, entries = tree.folder_usage(self.request["folder"], most["folder_bytes"], most["folder_entries"])
            if size + hidden_disk > most["folder_bytes"] or entries > most["folder_entries"]:
                return "disk"
            self.next_count = now + min(LONGEST_UNSEEN_S, max(0.05, SLOW_FACTOR * (time.monotonic() - now)))
        return None

    def memory(self, usage: tree.Usage) -> float:
        """Bytes of all processes: the control group's account, else what /proc shows, exactly where a quick sum is too high. Data in flight,
        of which a group counts only those of some families, come on top.
        """
        if self.group is not None:
            return self.group.used() + self.in_flight
        own, shared = usage.own, usage.shared
        if own + max(shared, self.hidden_memory) + self.in_flight + usage.files > self.most["memory_bytes"]:
            own, shared = tree.shared_fairly(usage.threads_of[self.own :]) or (own, shared)
        # hidden files are in `shared` as far as they are mapped
        return own + max(shared, self.hidden_memory) + self.in_flight

    def outcome(self) -> tuple[int | None, str | None, str | None]:
        """(exit code as subprocess has it: negative is a signal, the limit that stopped it, what of ours failed): all but one are None."""
        if self.group is not None and self.group.overran():
            return None, "memory", None
        if self.stopped is not None:
            return None, self.stopped, None
        code = os.waitstatus_to_exitcode(self.ended[self.pid])
        if self.request["prefix"]:
            if code < 0:
                return None, None, f"bubblewrap was ended before the program: {self.stderr.text().strip()[-500:]}"
            code = 128 - code if code > 128 and os.read(self.report, 1) else code
        if code in (-signal.SIGXCPU, -signal.SIGKILL) and _cpu_seconds() >= self.most["cpu_s"]:
            return None, "cpu", None
        return (None, "disk", None) if code == -signal.SIGXFSZ else (code, None, None)


def _cpu_seconds() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def run(request: dict, group: Group | None) -> dict:
    """The whole of one run; the answer as a dictionary. group: the control group that counts its memory."""
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGCHLD])  # waited for, so that none is missed
    starved_before = tree.starved()
    current = Run(request, group)
    try:
        current.prepare()
        problem = current.start()
        if problem is None:
            current.watch()
    except OSError as error:
        problem = f"{error.strerror}: {error.filename}"
    code = stopped = None
    if not tree.kill_all(request["uid"], current.ended):
        left = ", ".join(map(str, tree.descendants()[:8]))
        problem = f"processes that do not die (stuck in the kernel or the GPU driver?): {left}"
    elif problem is None:
        code, stopped, problem = current.outcome()
    short = tree.starved() > starved_before
    if code == -signal.SIGKILL and short:
        if 1024 * resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss > current.most["memory_bytes"]:
            code, stopped = None, "memory"  # one process had more than all may have, and took it before we looked
        else:
            problem = "the kernel killed it for want of memory: this machine has less than its limit allows, or is shared by many"
    return {
        "returncode": code,
        "stopped": stopped,
        "seconds": current.seconds,
        "stdout": current.stdout.text(),
        "stderr": current.stderr.text(),
        "infra": problem,
        "starved": short,
        "look_s": current.slowest_look,
    }
