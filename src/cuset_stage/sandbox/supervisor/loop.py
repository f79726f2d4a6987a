"""One run: start the program, watch it, end it with everything it started, and report what happened.

This runs in a fork of the supervisor (see __main__.py). Its main thread looks at the program's processes again and
again. A second thread, `Run.guard`, holds the time limit also while such a look is blocked.
"""

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


# Pause between two looks at the processes. It is short at first, since most programs are short. It may become longer
# where a control group holds the memory, and as long as the guard's while all processes sleep, as idle servers do.
SHORTEST_S, LONGEST_S, LONGEST_IN_GROUP_S, LONGEST_ASLEEP_S = 0.002, 0.02, 0.05, 0.1
GUARD_S = 0.1  # pause between two checks of the time and of the largest process's memory
SET_UP_S = 60.0  # time that bubblewrap gets before the program begins
# Counting files may take a twentieth of the time. It may take more if otherwise more than a second passed between
# counts.
SLOW_FACTOR, LONGEST_UNSEEN_S = 20, 1.0
# A shell script that runs in bubblewrap as the program's user. If the command can be run, it reports that everything
# is set up, and runs it. It is needed because bubblewrap turns a death by signal N into the exit code 128 + N, which a
# program may also return. A shell says on its stderr, which is REPORT here, that a signal came. (A shell knows only
# descriptors of one digit. At this point there are few, so one digit is enough.)
BEGIN = (
    'command -v -- "$0" >/dev/null || exec "$0"; exec 9>&2 2>&REPORT REPORT>&-; echo >&2; '
    '(exec "$0" "$@" 2>&9 9>&-); exit $?'
)


class OutOfTime(Exception):
    """The time limit of the run has passed."""


def _interrupt(number: int, frame: object) -> None:
    raise OutOfTime


class CappedFile:
    """An unnamed file that a program writes to, made in `folder`. Of more than `cap` bytes the middle is discarded.

    The descriptor is in append mode, so that the program continues at the new end after the file was cut.
    """

    def __init__(self, folder: str, cap: int) -> None:
        path = os.path.join(folder, f"cuset-{os.urandom(8).hex()}")
        self.fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_CLOEXEC, 0o600)
        os.unlink(path)
        self.cap, self.half = cap, max(1, cap // 2)
        self.head = self.tail = b""
        self.cut = 0  # bytes that were cut from the file, including the head and tail that are kept

    def trim(self, slack: int = 1 << 20) -> None:
        """Cut the file to the first and last half of the cap if it is more than `slack` bytes larger than the cap."""
        size = os.fstat(self.fd).st_size
        if size > self.cap + slack:
            self.head = self.head or os.pread(self.fd, self.half, 0)
            self.tail = os.pread(self.fd, self.half, size - self.half)
            os.ftruncate(self.fd, 0)
            self.cut += size

    def text(self) -> str:
        """Return what was written, or its head and tail with a line between them that counts the missing bytes."""
        self.trim(0)
        rest = os.pread(self.fd, self.cap, 0)
        if self.cut:
            missing = self.cut + len(rest) - 2 * self.half
            rest = self.head + f"\n[... {missing} bytes left out ...]\n".encode() + (self.tail + rest)[-self.half :]
        return rest.decode(errors="replace")


class Run:
    """One program, from its start to the end of the last process it left.

    Call `prepare`, `start` and `watch` in this order, then `tree.kill_all`, then `outcome`.

    Args:
        request: The request, as `process.run_sandboxed` makes it.
        group: The control group that counts the memory, or None.

    Attributes:
        most: The limits. Infinity means unlimited.
        stopped: The limit at which the program was stopped, or None.
        ended: pid -> wait status of the processes that have been reaped.
        pid: The program, or bubblewrap around it.
        report: The socket on which the child says that the program begins, or why not.
        begin: The time.monotonic() at which the program began.
        seconds: The wall time of the program.
        slowest_look: Seconds that the longest look took.
        own: The number of the sandbox's processes below this one (bubblewrap and its shell), which do not count.
    """

    def __init__(self, request: dict, group: Group | None) -> None:
        self.request = request
        self.most = {name: float("inf") if value is None else value for name, value in request["limits"].items()}
        self.stdout, self.stderr = (CappedFile(request["control"], self.most["output_bytes"]) for _ in range(2))
        self.stopped: str | None = None
        self.ended: dict[int, int] = {}
        self.pid = self.report = -1
        self.begin = time.monotonic()
        self.seconds = self.slowest_look = self.next_count = self.cpu_seconds = 0.0
        self.in_flight = self.hidden_memory = 0.0
        self.ended_watch, self.overran = threading.Event(), None
        same_user, contained = request["uid"] is None, bool(request["prefix"])
        network = contained and request["network"]
        unseen = min(self.most["file_bytes"], self.most["folder_bytes"])
        self.out_of_sight = tree.OutOfSight(unseen, same_user=same_user, contained=contained, network=network)
        self.own = 2 if contained else 0
        self.processes = self.most["processes"] + self.own
        self.threads = request["threads"] + self.own
        self.group = group

    def prepare(self) -> None:
        """Make what must exist before the program's first process.

        Raises:
            OSError: The kernel lists no children of a process, or a file cannot be copied.
        """
        if not os.path.exists(f"/proc/self/task/{os.getpid()}/children"):
            raise OSError(errno.ENOSYS, "this kernel lists no children of a process (CONFIG_PROC_CHILDREN)", "/proc")
        if self.group is not None:
            self.group.begin(self.most["memory_bytes"] + SLACK)
        folder, uid = self.request["folder"], self.request["uid"]
        for name, source in self.request["copies"].items():
            target = os.path.join(folder, name)
            os.makedirs(os.path.dirname(target), exist_ok=True)
            with contextlib.suppress(FileNotFoundError):
                os.unlink(target)  # in a folder of an earlier run it may be a link to a file of the cache
            shutil.copyfile(source, target)
            os.chmod(target, 0o555 if os.access(source, os.X_OK) else 0o444)
        # Give the folders to the program's user. That is safe now, because nobody but the judge has made any of them.
        for place, folders, _ in os.walk(folder) if uid is not None else ():
            for name in (".", *folders):
                os.chown(os.path.join(place, name), uid, uid, follow_symlinks=False)

    def start(self) -> str | None:
        """Fork and exec, and wait until the program begins. Return None, or the reason if it does not begin."""
        # On this channel the child reports (see become_program and BEGIN). It is a socket, because no path of /proc
        # opens a socket, so the program cannot reach it.
        self.report, report = (end.detach() for end in socket.socketpair())
        kept_open: list[int] = []
        if prefix := self.request["prefix"]:
            filter_end, writing_end = os.pipe()
            os.write(writing_end, build_filter(contained=True, network=self.request["network"]) or ALLOW_ALL)
            os.close(writing_end)
            kept_open = [filter_end, report]
            prefix[1:1] = ["--seccomp", str(filter_end)]
            prefix += ["-c", BEGIN.replace("REPORT", str(report))]
        # As root, this process gets real-time priority. It then runs first, however many processes and sessions exist.
        with contextlib.suppress(OSError):
            os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))
        self.pid = os.fork()
        if self.pid == 0:
            become_program(self.request, self.stdout.fd, self.stderr.fd, report, kept_open)
        for fd in {report, *kept_open, *self.request["stdin"]}:
            os.close(fd)
        if not select.select([self.report], [], [], SET_UP_S)[0]:
            return f"bubblewrap did not start the program within {SET_UP_S:.0f} s"
        # A newline comes from BEGIN and means success. Without bubblewrap, the end of file does: exec has closed the
        # socket. Anything else is an error message.
        first_byte = os.read(self.report, 1)
        if first_byte not in (b"", b"\n"):
            return (first_byte + os.read(self.report, 4096)).decode(errors="replace")
        if prefix and not first_byte:
            return f"bubblewrap did not start the program: {self.stderr.text().strip()[-500:]}"
        self.begin = time.monotonic()
        return None

    def watch(self) -> None:
        """Watch until the program ends, a limit is passed, or the judge closes its end of the socket.

        The judge closes it to stop the run, or because it is gone. The program can make a look take long. The time
        limit then interrupts the look by SIGALRM, or ends what it waits for (`guard`).
        """
        signal.signal(signal.SIGALRM, _interrupt)
        guard = threading.Thread(target=self.guard, daemon=True)
        try:
            guard.start()
            signal.setitimer(signal.ITIMER_REAL, self.most["wall_s"], 1.0)
            pause, longest = SHORTEST_S, LONGEST_S if self.group is None else LONGEST_IN_GROUP_S
            while True:
                cpu_before = self.cpu_seconds
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
                is_asleep = self.cpu_seconds == cpu_before
                pause = min(LONGEST_ASLEEP_S if is_asleep else longest, pause * 1.5)
            # Still inside the try block: an alarm before this line is caught, and none can come after it.
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
        """Kill the program if its time is over, or if one process has more memory than all may have. Runs as a thread.

        It works even while a look is blocked. A look reads mappings and exact sums, waits for locks that the program
        may hold, and cannot be interrupted by an alarm then. This thread needs none of those locks.
        """
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGALRM])  # the alarm must reach the thread that looks
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
        """Return the name of a limit that is passed now, "judge" if the judge's socket says something, or None."""
        if select.select([0], [], [], 0)[0]:
            return "judge"
        most = self.most
        now = time.monotonic()
        # Up to four times the limit, because this list includes zombies, which do not count as processes.
        pids = tree.descendants(4 * self.processes)
        if len(pids) > 4 * self.processes:
            return "processes"
        usage = tree.measure(pids)
        if usage.processes > self.processes or usage.threads > self.threads:
            return "processes"
        self.cpu_seconds = usage.cpu_seconds + _cpu_seconds()
        if self.cpu_seconds > most["cpu_s"]:
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
        """Return the bytes that all processes use.

        They are the control group's account, or else what /proc shows. In the second case a quick sum is made first,
        and the exact one only if the quick one is above the limit. Data in flight are added in both cases, because a
        group counts them for some families of sockets only.
        """
        if self.group is not None:
            return self.group.used(self.most["memory_bytes"] - self.in_flight) + self.in_flight
        own, shared = usage.own, usage.shared
        if own + max(shared, self.hidden_memory) + self.in_flight + usage.files > self.most["memory_bytes"]:
            own, shared = tree.shared_fairly(usage.threads_of[self.own :]) or (own, shared)
        # The maximum, not the sum: `shared` already includes hidden files as far as they are mapped.
        return own + max(shared, self.hidden_memory) + self.in_flight

    def outcome(self) -> tuple[int | None, str | None, str | None]:
        """Return how the program ended, as a tuple of which all but one entry are None.

        The entries are the exit code (-N for signal N), the limit that stopped the program, and a failure of the
        judge.
        """
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
    """Return the CPU seconds of the processes that have been reaped."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def run(request: dict, group: Group | None) -> dict:
    """Do one run (for the arguments see `Run`) and return the answer: the fields of `Finished` as a dictionary."""
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGCHLD])  # blocked, so that sigtimedwait misses none
    starved_before = tree.starved()
    current = Run(request, group)
    try:
        current.prepare()
        problem = current.start()
        if problem is None:
            current.watch()
    except OSError as error:
        problem = f"{error.strerror}: {error.filename2 or error.filename}"  # of a copy, the target
    code = stopped = None
    if not tree.kill_all(request["uid"], current.ended):
        left = ", ".join(map(str, tree.descendants()[:8]))
        problem = f"processes that do not die (stuck in the kernel or the GPU driver?): {left}"
    elif problem is None:
        code, stopped, problem = current.outcome()
    starved = tree.starved() > starved_before
    if code == -signal.SIGKILL and starved:
        if 1024 * resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss > current.most["memory_bytes"]:
            code, stopped = None, "memory"  # one process took more than the limit between two looks
        else:
            problem = "the kernel killed it for want of memory: this machine has less than its limit allows, or is shared by many"
    return {
        "returncode": code,
        "stopped": stopped,
        "seconds": current.seconds,
        "stdout": current.stdout.text(),
        "stderr": current.stderr.text(),
        "infra": problem,
        "starved": starved,
        "look_s": current.slowest_look,
    }
