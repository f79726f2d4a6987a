"""The judge's end of the supervisors: have one forked, hand it a request, watch the GPU for it, wait for the answer."""

from __future__ import annotations

import atexit
import marshal
import os
import re
import socket
import subprocess
import sys
import threading
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from .gpus import Gpu, total_used_memory, used_memory
from .limits import Limits


SUPERVISOR = Path(__file__).parent / "supervisor" / "__main__.py"
PATIENCE_S = 90.0
"""What the supervisor may need beyond the program's own time: copies before, the end of everything after."""
GPU_QUERY_S = 1.0
_KILLED = re.compile(r"\bKilled\b|\b[Ss]ignal 9\b|\bSIGKILL\b")  # as shells, gcc, nvcc and Python say it


@dataclass(frozen=True)
class Finished:
    """How a command ended.

    returncode: its exit code, -N for signal N, None when it was stopped or never ran. stopped: the limit at which it was
    stopped: "wall", "cpu", "memory", "disk", "gpu_memory", "processes", or None. seconds: wall time of the command alone.
    cpu_seconds: of it and all it started. peak_memory_bytes: resident, as far as it was seen. stdout, stderr: capped.
    infra: why the judge itself failed, or None; then the rest says nothing about the command. starved: while it ran, the kernel
    killed some process of this machine for want of memory.
    """

    returncode: int | None = None
    stopped: str | None = None
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    peak_memory_bytes: int = 0
    stdout: str = ""
    stderr: str = ""
    infra: str | None = None
    starved: bool = False

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
        self._control, its = socket.socketpair(type=socket.SOCK_SEQPACKET)  # each message by itself
        with its:
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-S", str(SUPERVISOR)],
                stdin=its,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,  # Ctrl-C reaches the judge alone; when it goes, this socket closes
                env={"PATH": os.environ.get("PATH", "/usr/bin:/bin")},
                cwd="/",
            )
        self._guard = threading.Lock()

    @property
    def works(self) -> bool:
        return self._control.fileno() >= 0 and self._process.poll() is None

    def begin(self, its: socket.socket) -> None:
        """Have a supervisor forked that listens on this socket. Raises OSError when the server is gone."""
        with self._guard:
            socket.send_fds(self._control, [b"run"], [its.fileno()])

    def kill(self, supervisor: int) -> None:
        with suppress(OSError), self._guard:
            self._control.send(b"%d" % supervisor)

    def leave(self) -> None:
        """In a fork of the judge: the server belongs to the original."""
        self._control.close()
        self._process.returncode = 0  # not this process's to wait for

    def close(self) -> None:
        self._control.close()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(2)


_server: _Server | None = None
_guard = threading.Lock()


def _begin() -> tuple[_Server, socket.socket, int]:
    """The server, a fresh supervisor's socket and its process id. The server is started with the first run, and anew when it was killed.

    Raises OSError when there can be none.
    """
    global _server
    for last in (False, True):
        ours, its = socket.socketpair()
        with _guard:
            if _server is None or not _server.works:
                _server = _Server()
            server = _server
        try:
            with its:
                server.begin(its)
            supervisor = _receive(ours, time.monotonic() + PATIENCE_S)
            if isinstance(supervisor, int):
                return server, ours, supervisor
            raise OSError(supervisor or "its server died")
        except OSError as error:
            ours.close()
            if last or isinstance(error, TimeoutError):
                raise
            server.close()
    raise AssertionError("not reached")


def _receive(stream: socket.socket, deadline: float) -> Any:
    """The next message; None when the other end is gone. Raises TimeoutError."""
    head = _read(stream, 8, deadline)
    body = None if head is None else _read(stream, int.from_bytes(head, "little"), deadline)
    return None if body is None else marshal.loads(body)


def _read(stream: socket.socket, size: int, deadline: float) -> bytes | None:
    parts = []
    while size:
        stream.settimeout(max(0.001, deadline - time.monotonic()))
        try:
            part = stream.recv(min(size, 1 << 20))
        except ConnectionResetError:
            part = b""
        if not part:
            return None
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def _forget() -> None:
    global _server, _guard
    _guard = threading.Lock()
    if _server is not None:
        _server.leave()
        _server = None


@atexit.register
def _close() -> None:
    if _server is not None:
        _server.close()


os.register_at_fork(after_in_child=_forget)


class Supervised:
    """One run: its supervisor is forked and sets everything up at once; the program begins at `go`; `wait` says how it ended.

    Used as a context: when it is left before the answer has come, for whatever reason, the supervisor kills everything first.
    """

    def __init__(self, request: dict[str, Any] | str, gpu: Gpu | None, limits: Limits) -> None:
        """request: for the supervisor; or why there can be none, which `wait` then says."""
        self.finished: Finished | None = None
        self._gpu, self._limits = gpu, limits
        self._owner = os.getpid()
        self._ended = threading.Event()
        self._answered = self._gone = False
        if isinstance(request, str):
            self.finished = Finished(infra=request)
            return
        self._folder, self._uid = request["folder"], request["uid"]
        try:
            self._server, self._stream, self._supervisor = _begin()
        except OSError as error:
            self.finished = Finished(infra=f"the supervisor cannot be started: {error}")
            return
        message = marshal.dumps(request)
        self._send(len(message).to_bytes(8, "little") + message)

    def __enter__(self) -> Supervised:
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        if self.finished is not None and not self._answered:  # it never began
            return
        if not self._answered and os.getpid() == self._owner:  # else a fork of it leaves the block
            with suppress(OSError):  # a time-out is one
                self._stream.shutdown(socket.SHUT_WR)
                _read(self._stream, sys.maxsize, time.monotonic() + PATIENCE_S)  # until everything is dead
        self._stream.close()

    def go(self) -> None:
        """Let the program begin. Returns at once; a second call does nothing."""
        if self.finished is None and not self._gone:
            self._gone = True
            self._send(b"go\n")
            if self._gpu is not None and self._limits.gpu_memory_bytes is not None:
                threading.Thread(target=self._watch_gpu, args=(self._limits.gpu_memory_bytes,), daemon=True).start()

    def wait(self) -> Finished:
        """Let the program begin, and return when it and all it started are dead."""
        self.go()
        if self.finished is None:
            patience = self._limits.wall_s + PATIENCE_S
            try:
                answer = _receive(self._stream, time.monotonic() + patience) or "the supervisor died without an answer"
            except TimeoutError:
                self._server.kill(self._supervisor)
                answer = f"the supervisor did not answer for {patience:.0f} s"
            self._answered = True
            if isinstance(answer, str):
                self._hunt()
                self.finished = Finished(infra=answer)
            else:
                self.finished = Finished(**answer)
        return self.finished

    def _send(self, data: bytes) -> None:
        with suppress(BrokenPipeError, ConnectionResetError):
            self._stream.sendall(data)

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

    def _watch_gpu(self, most: int) -> None:
        """Ask nvidia-smi now and then; tell the supervisor when the program's device memory passes the limit.

        In a container nvidia-smi may know processes by other ids: then what the whole GPU gained since the start counts,
        which is right while one run at a time has the GPU.
        """
        before = total_used_memory(self._gpu)
        while not self._ended.wait(GPU_QUERY_S):
            with suppress(psutil.Error):
                pids = {child.pid for child in psutil.Process(self._supervisor).children(recursive=True)}
                used = used_memory(self._gpu, pids)
                if used is None and before is not None:
                    now = total_used_memory(self._gpu)
                    used = now - before if now is not None else None
                if used is not None and used > most and not self._ended.is_set():
                    with suppress(OSError):
                        self._stream.send(b"gpu_memory\n")
                    return
