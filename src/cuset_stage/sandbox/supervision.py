"""The judge's side of the supervisors: send a run to one, watch its GPU memory meanwhile, and wait for the answer.

A supervisor is a separate process (supervisor/__main__.py) that takes one run after another. The judge starts one when
none is idle, so there are as many as there are runs at the same time.
"""

import atexit
import marshal
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import psutil

from .gpus import Gpu, used_memory
from .limits import Limits, SandboxError


SUPERVISOR = (sys.executable, "-I", "-S", str(Path(__file__).parent / "supervisor" / "__main__.py"))
PATIENCE_S = 90.0
"""Time that the supervisor may take beyond the program's own: to copy files before, and to end all processes after."""
GPU_QUERY_S = 1.0
IDLE_QUERY_S = 0.05
_KILLED = re.compile(r"\bKilled\b|\b[Ss]ignal 9\b|\bSIGKILL\b")  # as shells, gcc, nvcc and Python say it
_LIMITS = {"wall": "wall time limit of {wall_s:g} s", "cpu": "CPU time limit of {cpu_s:g} s"}
_LIMITS |= {"gpu_memory": "GPU memory limit", "processes": "limit on the number of processes"}
_LIMITS |= {"mappings": "limit on mappings and open files (131,072 in all processes)"}


@dataclass(frozen=True)
class Finished:
    """How a command ended.

    Attributes:
        returncode: The exit code, -N for signal N, or None when the command was stopped or never ran.
        stopped: The limit at which it was stopped ("wall", "cpu", "memory", "disk", "gpu_memory", "processes" or
            "mappings"), "judge" when the judge asked for it, or None.
        seconds: Wall time of the command alone.
        stdout: What it wrote to stdout, capped at `Limits.output_bytes`.
        stderr: What it wrote to stderr, capped likewise.
        infra: Why the judge itself failed, or None. When it is set, the other fields say nothing about the command.
        starved: True if the kernel killed some process of this machine for lack of memory while the command ran.
        look_s: Seconds that the longest look at its processes took.
        late: True if the failure in `infra` is that nobody said in time how the command ended.
    """

    returncode: int | None = None
    stopped: str | None = None
    seconds: float = 0.0
    stdout: str = ""
    stderr: str = ""
    infra: str | None = None
    starved: bool = False
    look_s: float = 0.0
    late: bool = False

    @property
    def out_of_time(self) -> bool:
        """True if the command was stopped at its wall time or CPU time limit."""
        return self.stopped in ("wall", "cpu")

    def ending(self, limits: Limits) -> str:
        """Return a phrase such as "was stopped at its wall time limit of 60 s", "returned 1" or "died by SIGSEGV".

        The command ran under these limits.
        """
        if self.stopped is not None:
            return f"was stopped at its {_LIMITS.get(self.stopped, f'{self.stopped} limit').format(**asdict(limits))}"
        code = self.returncode or 0
        if code >= 0:
            return f"returned {code}"
        return f"died by {next((entry.name for entry in signal.Signals if entry == -code), f'signal {-code}')}"

    def lacked_memory(self, said: str = "") -> str | None:
        """Return a message if a process that the command started was killed for lack of memory, else None.

        The kernel's counter covers the whole machine. Only the output tells whether this command lost a process: stdout,
        stderr, and what it `said` elsewhere.
        """
        if not self.starved or not _KILLED.search(f"{self.stderr}\n{self.stdout}\n{said}"):
            return None
        return (
            "a part of it was killed while this machine was out of memory: run fewer at a time (jobs=), or free memory"
        )


class _Supervisor:
    """The handle of a supervisor process, which takes one run after another (supervisor/__main__.py)."""

    def __init__(self) -> None:
        self.socket, supervisor_end = socket.socketpair()
        environment = {"PATH": os.environ.get("PATH", "/usr/bin:/bin")}
        # In a session of its own, so that Ctrl-C reaches only the judge. When the judge dies, this socket closes.
        with supervisor_end:
            self.process = subprocess.Popen(
                SUPERVISOR,
                stdin=supervisor_end,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
                env=environment,
                cwd="/",
            )

    def ask(self, request: bytes, patience_s: float, channel: socket.socket | None = None) -> dict[str, Any]:
        """Send a marshalled request and wait up to `patience_s` seconds for the answer.

        The channel, if there is one, becomes the command's stdin. It is closed here.

        Returns:
            The fields of `Finished`. If the supervisor failed, only `infra`, and `late` if it did not answer in time.
        """
        self.socket.settimeout(patience_s)
        try:
            with self.socket.makefile("rb") as answers:
                socket.send_fds(self.socket, [len(request).to_bytes(8, "big")], [channel.fileno()] if channel else [])
                if channel:
                    channel.close()
                self.socket.sendall(request)
                # Not marshal.load: before Python 3.11.4 it takes a time-out, and Ctrl-C, for the end of the file.
                return marshal.loads(answers.read(int.from_bytes(answers.read(8), "big")))
        except TimeoutError:
            return {"infra": f"the supervisor did not answer for {patience_s:.0f} s", "late": True}
        except (OSError, EOFError, ValueError, TypeError):  # it is gone, perhaps halfway through its answer
            return {"infra": "the supervisor died without an answer"}

    def end(self, patience_s: float | None = None) -> None:
        """Make the supervisor kill what it watches and exit, and wait for that.

        Processes that hang for `patience_s` seconds, by default PATIENCE_S, are killed.
        """
        _supervisors.discard(self)
        with suppress(OSError):
            self.socket.shutdown(socket.SHUT_RDWR)
        while self.process.returncode is None:
            try:
                self.process.wait(PATIENCE_S if patience_s is None else patience_s)
            except subprocess.TimeoutExpired:
                # Where the supervisor's fork hangs, it is enough to kill the fork: the supervisor ends what is left.
                with suppress(psutil.Error):
                    server = psutil.Process(self.process.pid)
                    for hanging in server.children() or [server]:
                        hanging.kill()
        self.socket.close()


_supervisors: set[_Supervisor] = set()
_idle: list[_Supervisor] = []
_guard = threading.Lock()
_begin = threading.RLock()  # held while a run must be alone, so that no other thread begins one


def _take() -> _Supervisor:
    """Return an idle supervisor, or a new one. Raises OSError when none can be started."""
    with _guard:
        while _idle:
            supervisor = _idle.pop()
            if supervisor.process.poll() is None:
                return supervisor
            supervisor.end()
        supervisor = _Supervisor()
        _supervisors.add(supervisor)
        return supervisor


@atexit.register
def _close() -> None:
    for supervisor in list(_supervisors):
        supervisor.end(2.0)


def _forget() -> None:
    """Drop all supervisors in a fork of the judge, because they belong to the original process."""
    global _guard, _begin
    _guard, _begin = threading.Lock(), threading.RLock()
    for supervisor in _supervisors:
        os.close(supervisor.socket.detach())
        supervisor.process.returncode = 0  # so that Popen does not wait for it: it is no child of this process
    _supervisors.clear()
    _idle.clear()


os.register_at_fork(after_in_child=_forget)


@contextmanager
def alone(patience_s: float) -> Iterator[None]:
    """Keep other threads of this process from beginning a run while the block runs.

    The block begins when all current runs have ended, or after `patience_s` seconds, because some runs last for hours.
    """
    with _begin:
        deadline = time.monotonic() + patience_s
        while len(_idle) < len(_supervisors) and time.monotonic() < deadline:
            time.sleep(IDLE_QUERY_S)
        yield


def supervise(
    request: dict[str, Any],
    gpu: Gpu | None,
    limits: Limits,
    channel: socket.socket | None = None,
    stop: threading.Event | None = None,
) -> Finished:
    """Let a supervisor run one command, and return when the command and all the processes it started are dead.

    They are dead also when an exception, such as KeyboardInterrupt, ends the wait.

    Args:
        request: What the supervisor gets (see `run_sandboxed`).
        gpu: The GPU whose memory is watched if `limits` has a limit on it, or None.
        channel: The socket that becomes the command's stdin, or None. It is closed here.
        stop: An event that ends the command when it is set, or None. It must be set at last, because a thread waits
            for it.

    Raises:
        SandboxError: No supervisor can be started.
    """
    try:
        with _begin:
            supervisor = _take()
    except OSError as error:
        raise SandboxError(f"the supervisor cannot be started: {error}") from error
    answer: dict[str, Any] = {"infra": "interrupted"}
    ended = threading.Event()
    # What decides the outcome: "answer", or the reason why a watching thread ended the run. The first to set it wins.
    last_word: dict[str, str] = {}

    def end(reason: str) -> None:
        if last_word.setdefault("of", reason) == reason:
            supervisor.socket.shutdown(socket.SHUT_WR)

    try:
        if gpu is not None and (most := limits.gpu_memory_bytes) is not None:
            watched = (supervisor.process.pid, gpu, most, ended, end)
            threading.Thread(target=_watch_gpu, args=watched, daemon=True).start()
        if stop is not None:
            threading.Thread(target=lambda: stop.wait() and end("judge"), daemon=True).start()
        answer = supervisor.ask(marshal.dumps(request), limits.wall_s + PATIENCE_S, channel)
    finally:
        ended.set()
        stopped = last_word.setdefault("of", "answer")
        if answer["infra"] is None and stopped == "answer":
            _idle.append(supervisor)
        else:
            supervisor.end()
    if "seconds" not in answer:
        _hunt(request["folder"], request["uid"])
    return replace(Finished(**answer), **({} if stopped == "answer" else {"stopped": stopped, "returncode": None}))


def _hunt(folder: str, uid: int | None) -> None:
    """Kill what a supervisor that died (out of memory?) may have left, found by user, folder and environment."""
    killed_before = True
    for _ in range(100):
        killed_any = False
        for process in psutil.process_iter():
            with suppress(psutil.Error, OSError):  # its working directory may be too deep to have a name
                traces = (process.cwd(), process.exe(), process.environ().get("HOME", ""))
                if process.uids().real == uid or any(trace.startswith(f"{folder}/") for trace in traces):
                    process.kill()
                    killed_any = True
        # Two rounds without a kill are needed: a dying process may have forked since the processes were listed.
        if not killed_any and not killed_before:
            return
        killed_before = killed_any


def _watch_gpu(pid: int, gpu: Gpu, most: int, ended: threading.Event, end: Callable[[str], None]) -> None:
    """Ask the driver now and then, and end the run when its device memory passes the limit of `most` bytes.

    The run's processes are those below the supervisor `pid`. Memory that the driver lists under no process counts as
    the program's, as far as it has grown since the start: it is managed memory. If the driver lists none of the run's
    processes, all growth of the GPU's used memory counts. Both are right while one run at a time has the GPU.
    """
    total_before, apps = used_memory(gpu)
    unlisted_before = total_before - sum(apps.values())
    while not ended.wait(GPU_QUERY_S):
        with suppress(psutil.Error, OSError):
            below = {child.pid for child in psutil.Process(pid).children(recursive=True)}
            total, apps = used_memory(gpu)
            used = total - total_before
            if below & apps.keys():
                used = sum(apps[pid] for pid in below & apps.keys())
                used += max(0, total - sum(apps.values()) - unlisted_before)
            if used > most:
                end("gpu_memory")
                return
