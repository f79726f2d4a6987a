"""The judge's end of the supervisors: have one forked for a request, watch the GPU for it, wait for the answer."""

from __future__ import annotations

import atexit
import errno
import marshal
import os
import re
import signal
import socket
import subprocess
import sys
import threading
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, BinaryIO

import psutil

from .gpus import Gpu, total_used_memory, used_memory
from .limits import Limits, SandboxError


SUPERVISOR = Path(__file__).parent / "supervisor" / "__main__.py"
PATIENCE_S = 90.0
"""What the supervisor may need beyond the program's own time: copies before, the end of everything after."""
GPU_QUERY_S = 1.0
REQUEST_BYTES = 200_000  # the kernel takes no longer message in one piece
_KILLED = re.compile(r"\bKilled\b|\b[Ss]ignal 9\b|\bSIGKILL\b")  # as shells, gcc, nvcc and Python say it
_LIMITS = {"wall": "wall time limit of {wall_s:g} s", "cpu": "CPU time limit of {cpu_s:g} s"}
_LIMITS |= {"gpu_memory": "GPU memory limit", "processes": "limit on the number of processes"}


@dataclass(frozen=True)
class Finished:
    """How a command ended.

    returncode: its exit code, -N for signal N, None when it was stopped or never ran. stopped: the limit at which it was
    stopped: "wall", "cpu", "memory", "disk", "gpu_memory", "processes", or None. seconds: wall time of the command alone.
    stdout, stderr: capped. infra: why the judge itself failed, or None; then the rest says nothing about the command. starved: while it ran, the kernel
    killed some process of this machine for want of memory.
    """

    returncode: int | None = None
    stopped: str | None = None
    seconds: float = 0.0
    stdout: str = ""
    stderr: str = ""
    infra: str | None = None
    starved: bool = False

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


class _Server:
    """The judge's process that forks a supervisor for each run (supervisor/__main__.py)."""

    def __init__(self) -> None:
        self.control, its = socket.socketpair(type=socket.SOCK_SEQPACKET)  # each message by itself
        self.control.settimeout(PATIENCE_S)
        command = [sys.executable, "-I", "-S", str(SUPERVISOR)]
        environment = {"PATH": os.environ.get("PATH", "/usr/bin:/bin")}
        none = subprocess.DEVNULL
        with its:  # in a session of its own: Ctrl-C reaches the judge alone; when that goes, this socket closes
            self.process = subprocess.Popen(
                command, stdin=its, stdout=none, stderr=none, start_new_session=True, env=environment, cwd="/"
            )

    @property
    def works(self) -> bool:
        return self.control.fileno() >= 0 and self.process.poll() is None


_server: _Server | None = None
_guard = threading.Lock()


@atexit.register
def _close() -> None:
    if _server is not None:
        _server.control.close()
        with suppress(subprocess.TimeoutExpired):
            _server.process.wait(2)


def _forget() -> None:
    """In a fork of the judge: the server belongs to the original."""
    global _server, _guard
    _guard = threading.Lock()
    if _server is not None:
        _server.control.close()
        _server.process.returncode = 0  # not this process's to wait for
        _server = None


os.register_at_fork(after_in_child=_forget)


def _receive(answers: BinaryIO) -> Any:
    """The next message; None when the other end is gone, also halfway through it. Raises TimeoutError."""
    try:
        return marshal.load(answers)
    except (EOFError, ValueError, TypeError, ConnectionResetError):
        return None


def _begin(request: bytes) -> tuple[socket.socket, BinaryIO, psutil.Process]:
    """A fresh supervisor, where to speak to it, and its answers. The server is started with the first run, and anew when it was killed.

    Raises OSError when there can be none.
    """
    global _server
    if len(request) > REQUEST_BYTES:
        raise OSError(errno.EMSGSIZE, f"a request of {len(request)} bytes, at most {REQUEST_BYTES}: too many inputs")
    for last in (False, True):
        ours, its = socket.socketpair()
        ours.settimeout(PATIENCE_S)
        answers = ours.makefile("rb")
        with _guard:
            if _server is None or not _server.works:
                _server = _Server()
            server = _server
        try:
            with its:
                socket.send_fds(server.control, [request], [its.fileno()])
            answer = _receive(answers)
            if isinstance(answer, int):
                return ours, answers, psutil.Process(answer)
        except (OSError, psutil.Error) as error:
            answer = error
        answers.close()
        ours.close()
        if last or isinstance(answer, str | TimeoutError):  # it lives, and other runs need it
            break
        server.control.close()
    raise OSError(answer or "its server died")


class Supervised:
    """One run: its supervisor is forked and sets everything up at once; the program begins at `go`; `wait` says how it ended.

    Used as a context: when it is left before the answer has come, for whatever reason, the supervisor kills everything first.
    """

    def __init__(self, request: dict[str, Any], gpu: Gpu | None, limits: Limits) -> None:
        """Raises SandboxError when no supervisor can be had."""
        self._finished: Finished | None = None
        self._gpu, self._limits = gpu, limits
        self._folder, self._uid = request["folder"], request["uid"]
        self._owner = os.getpid()
        self._ended = threading.Event()
        self._gone = False
        try:
            self._socket, self._answers, self._supervisor = _begin(marshal.dumps(request))
        except OSError as error:
            raise SandboxError(f"the supervisor cannot be started: {error}") from error

    def __enter__(self) -> Supervised:
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        if self._finished is None and os.getpid() == self._owner:  # else a fork of it leaves the block
            with suppress(OSError):  # a time-out is one
                self._socket.shutdown(socket.SHUT_WR)
                self._socket.settimeout(PATIENCE_S)
                while self._answers.read(1 << 20):  # until everything is dead
                    pass
        self._answers.close()
        self._socket.close()

    def _say(self, word: bytes) -> None:
        with suppress(BrokenPipeError, ConnectionResetError):
            self._socket.sendall(word + b"\n")

    def go(self) -> None:
        """Let the program begin. Returns at once; a second call does nothing."""
        if not self._gone:
            self._gone = True
            self._say(b"go")
            if self._gpu is not None and self._limits.gpu_memory_bytes is not None:
                threading.Thread(target=self._watch_gpu, daemon=True).start()

    def wait(self) -> Finished:
        """Let the program begin, and return when it and all it started are dead."""
        self.go()
        if self._finished is None:
            patience = self._limits.wall_s + PATIENCE_S
            self._socket.settimeout(patience)
            try:
                answer = _receive(self._answers) or "the supervisor died without an answer"
            except TimeoutError:
                with suppress(psutil.Error):
                    self._supervisor.kill()
                answer = f"the supervisor did not answer for {patience:.0f} s"
            if isinstance(answer, str):
                self._hunt()
            self._finished = Finished(infra=answer) if isinstance(answer, str) else Finished(**answer)
        return self._finished

    def _hunt(self) -> None:
        """The supervisor itself died (out of memory?): end what it can have left, found by user, folder and environment."""
        before = True
        for _ in range(100):
            found = False
            for process in psutil.process_iter():
                with suppress(psutil.Error):
                    traces = (process.cwd(), process.exe(), process.environ().get("HOME", ""))
                    if process.uids().real == self._uid or any(t.startswith(f"{self._folder}/") for t in traces):
                        process.kill()
                        found = True
            if not found and not before:  # twice: what is dying may have forked since the processes were listed
                return
            before = found

    def _watch_gpu(self) -> None:
        """Ask nvidia-smi now and then; tell the supervisor when the program's device memory passes the limit.

        In a container nvidia-smi may know processes by other ids: then what the whole GPU gained since the start counts,
        which is right while one run at a time has the GPU.
        """
        before = total_used_memory(self._gpu)
        while not self._ended.wait(GPU_QUERY_S):
            with suppress(psutil.Error, OSError):
                used = used_memory(self._gpu, {child.pid for child in self._supervisor.children(recursive=True)})
                if used is None and before is not None:
                    used = (total_used_memory(self._gpu) or 0) - before
                if used is not None and used > self._limits.gpu_memory_bytes and not self._ended.is_set():
                    self._say(b"gpu_memory")
                    return
