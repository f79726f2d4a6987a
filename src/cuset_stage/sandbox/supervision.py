"""The judge's end of the supervisors: have one run a request, watch the GPU for it, wait for the answer."""

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
"""What the supervisor may need beyond the program's own time: copies before, the end of everything after."""
GPU_QUERY_S = 1.0
STOP_QUERY_S = 0.05
_KILLED = re.compile(r"\bKilled\b|\b[Ss]ignal 9\b|\bSIGKILL\b")  # as shells, gcc, nvcc and Python say it
_LIMITS = {"wall": "wall time limit of {wall_s:g} s", "cpu": "CPU time limit of {cpu_s:g} s"}
_LIMITS |= {"gpu_memory": "GPU memory limit", "processes": "limit on the number of processes"}
_LIMITS |= {"mappings": "limit on mappings and open files (131,072 in all processes)"}


@dataclass(frozen=True)
class Finished:
    """How a command ended.

    returncode: its exit code, -N for signal N, None when it was stopped or never ran. stopped: the limit at which it was
    stopped: "wall", "cpu", "memory", "disk", "gpu_memory", "processes", "mappings", or None. seconds: wall time of the command alone.
    stdout, stderr: capped. infra: why the judge itself failed, or None; then the rest says nothing about the command. starved:
    while it ran, the kernel killed some process of this machine for want of memory. look_s: what the longest look at its processes took.
    late: the judge failed in so far as nobody said in time how it ended.
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
        return self.stopped in ("wall", "cpu")

    def ending(self, limits: Limits) -> str:
        """What it did in the end: "was stopped at its wall time limit of 60 s", "returned 1", "died by SIGSEGV"."""
        if self.stopped is not None:
            return f"was stopped at its {_LIMITS.get(self.stopped, f'{self.stopped} limit').format(**asdict(limits))}"
        code = self.returncode or 0
        if code >= 0:
            return f"returned {code}"
        return f"died by {next((known.name for known in signal.Signals if known == -code), f'signal {-code}')}"

    def lacked_memory(self, said: str = "") -> str | None:
        """What to say when something that the command started was killed for want of memory; None when nothing was.

        said: what it wrote elsewhere than to stdout and stderr. These alone tell whether the kernel hit a part of it or another.
        """
        if not self.starved or not _KILLED.search(f"{self.stderr}\n{self.stdout}\n{said}"):
            return None
        return "a part of it was killed while this machine was out of memory: run fewer at a time (--jobs), or free memory"


class _Supervisor:
    """A process of the judge that takes one run after another (supervisor/__main__.py)."""

    def __init__(self) -> None:
        self.socket, its = socket.socketpair()
        environment = {"PATH": os.environ.get("PATH", "/usr/bin:/bin")}
        none = subprocess.DEVNULL
        with its:  # in a session of its own: Ctrl-C reaches the judge alone; when that goes, this socket closes
            self.process = subprocess.Popen(
                SUPERVISOR, stdin=its, stdout=none, stderr=none, start_new_session=True, env=environment, cwd="/"
            )

    def ask(self, request: bytes, patience_s: float, channel: socket.socket | None = None) -> dict[str, Any]:
        """The fields of Finished; `infra`, and perhaps `late`, alone where the supervisor failed. channel: what becomes the command's
        stdin; closed here."""
        self.socket.settimeout(patience_s)
        try:
            with self.socket.makefile("rb") as answers:
                socket.send_fds(self.socket, [len(request).to_bytes(8, "big")], [channel.fileno()] if channel else [])
                if channel:
                    channel.close()
                self.socket.sendall(request)
                # Not marshal.load: before Python 3.11.4 that takes a time-out, and Ctrl-C, for the end of the file.
                return marshal.loads(answers.read(int.from_bytes(answers.read(8), "big")))
        except TimeoutError:
            return {"infra": f"the supervisor did not answer for {patience_s:.0f} s", "late": True}
        except (OSError, EOFError, ValueError, TypeError):  # it is gone, perhaps halfway through its answer
            return {"infra": "the supervisor died without an answer"}

    def end(self, patience_s: float | None = None) -> None:
        """It kills what it watches, then itself."""
        _supervisors.discard(self)
        with suppress(OSError):
            self.socket.shutdown(socket.SHUT_RDWR)
        while self.process.returncode is None:
            try:
                self.process.wait(PATIENCE_S if patience_s is None else patience_s)
            except subprocess.TimeoutExpired:
                with suppress(psutil.Error):  # where its fork hangs, it ends what is left below that
                    server = psutil.Process(self.process.pid)
                    for hanging in server.children() or [server]:
                        hanging.kill()
        self.socket.close()


_supervisors: set[_Supervisor] = set()
_idle: list[_Supervisor] = []
_guard = threading.Lock()
_begin = threading.RLock()  # held where a run is to be alone: no other thread begins one


def _take() -> _Supervisor:
    """One that has nothing to do, or a new one. Raises OSError when there can be none."""
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
    """In a fork of the judge: the supervisors belong to the original."""
    global _guard, _begin
    _guard, _begin = threading.Lock(), threading.RLock()
    for supervisor in _supervisors:
        os.close(supervisor.socket.detach())
        supervisor.process.returncode = 0  # not this process's to wait for
    _supervisors.clear()
    _idle.clear()


os.register_at_fork(after_in_child=_forget)


@contextmanager
def alone(patience_s: float) -> Iterator[None]:
    """No other run of this process begins in the block, which begins when all runs have ended, or after these seconds: some last for hours."""
    with _begin:
        deadline = time.monotonic() + patience_s
        while len(_idle) < len(_supervisors) and time.monotonic() < deadline:
            time.sleep(STOP_QUERY_S)
        yield


def supervise(
    request: dict[str, Any],
    gpu: Gpu | None,
    limits: Limits,
    channel: socket.socket | None = None,
    stop: threading.Event | None = None,
) -> Finished:
    """Have one command run, and return when it and all it started are dead; also when an exception comes meanwhile.

    Raises SandboxError when no supervisor can be had.
    """
    try:
        with _begin:
            supervisor = _take()
    except OSError as error:
        raise SandboxError(f"the supervisor cannot be started: {error}") from error
    answer: dict[str, Any] = {"infra": "interrupted"}
    ended = threading.Event()
    last_word: dict[str, str] = {}  # whose it is: the answer's, or that of one who has it stopped; the first to set it

    def end(reason: str) -> None:
        if last_word.setdefault("of", reason) == reason:
            supervisor.socket.shutdown(socket.SHUT_WR)

    try:
        if gpu is not None and (most := limits.gpu_memory_bytes) is not None:
            watched = (supervisor.process.pid, gpu, most, ended, end)
            threading.Thread(target=_watch_gpu, args=watched, daemon=True).start()
        if stop is not None:
            threading.Thread(target=_watch_stop, args=(stop, ended, end), daemon=True).start()
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
    """The supervisor itself died (out of memory?): end what it can have left, found by user, folder and environment."""
    before = True
    for _ in range(100):
        found = False
        for process in psutil.process_iter():
            with suppress(psutil.Error, OSError):  # the folder it is in may be too deep to be named
                traces = (process.cwd(), process.exe(), process.environ().get("HOME", ""))
                if process.uids().real == uid or any(trace.startswith(f"{folder}/") for trace in traces):
                    process.kill()
                    found = True
        if not found and not before:  # twice: what is dying may have forked since the processes were listed
            return
        before = found


def _watch_stop(stop: threading.Event, ended: threading.Event, end: Callable[[str], None]) -> None:
    while not ended.is_set():
        if stop.wait(STOP_QUERY_S):
            end("judge")
            return


def _watch_gpu(pid: int, gpu: Gpu, most: int, ended: threading.Event, end: Callable[[str], None]) -> None:
    """Ask the driver now and then; end the run when the device memory of what is below the supervisor `pid` passes the limit.

    What no process is listed with, which has grown since the start, counts as the program's: managed memory. Where it is not listed
    itself, all that the GPU gained counts. Both are right while one run at a time has the GPU.
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
