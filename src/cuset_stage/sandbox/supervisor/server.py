"""Fork a supervisor for each run that the judge asks for, and tell the judge when one of them dies.

stdin is a socket on which the judge sends, for each run, a socket of the run's own: what the judge and that run's supervisor say
to each other goes there. When stdin closes, or the judge's process ends, nothing more is begun, and the runs' sockets are shut: each
supervisor takes that for the judge's end and kills what it watches. The server ends last, with nothing left below it.
"""

from __future__ import annotations

import contextlib
import gc
import marshal
import os
import select
import signal
import socket
import traceback

from confine import become_subreaper
from loop import run
from tree import children, kill_all


class Server:
    """One for each judge. Single-threaded, never blocks on a run."""

    def __init__(self) -> None:
        self.judge = socket.socket(fileno=0)
        self.runs: dict[int, socket.socket] = {}  # pid of a supervisor -> its end of the run's socket
        self.woken, self.waker = os.pipe()
        os.set_blocking(self.woken, False)
        os.set_blocking(self.waker, False)
        self.poll = select.poll()
        self.open = True

    def serve(self) -> int:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)  # the judge decides; when it goes, its sockets close
        become_subreaper()  # what a supervisor that was killed leaves comes here
        signal.pthread_sigmask(signal.SIG_SETMASK, [])  # the judge's thread that started this may have blocked some
        signal.set_wakeup_fd(self.waker, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        self.poll.register(self.woken, select.POLLIN)
        self.poll.register(self.judge, select.POLLIN)
        with contextlib.suppress(OSError, AttributeError):
            self.poll.register(os.pidfd_open(os.getppid()), select.POLLIN)
        gc.freeze()
        while self.open or self.runs or children(os.getpid()):
            for fd, _ in self.poll.poll():
                if fd == self.woken:
                    with contextlib.suppress(BlockingIOError):
                        os.read(self.woken, 4096)
                    self.reap()
                elif self.open and (fd != self.judge.fileno() or not self.obey()):
                    self.leave()
        return 0

    def leave(self) -> None:
        """The judge is gone, or ends. A fork of it may hold its ends of the runs' sockets, so that they do not close by themselves."""
        self.open = False
        self.poll = select.poll()
        self.poll.register(self.woken, select.POLLIN)
        for channel in self.runs.values():
            with contextlib.suppress(OSError):
                channel.shutdown(socket.SHUT_RDWR)

    def obey(self) -> bool:
        """One message: a run's socket, or the number of a supervisor to kill. False when the judge is gone."""
        try:
            word, fds, _, _ = socket.recv_fds(self.judge, 64, 1)
        except OSError:
            return False
        if fds:
            self.begin(socket.socket(fileno=fds[0]))
        elif word.isdigit() and int(word) in self.runs:  # not collected, so the number is still its own
            os.kill(int(word), signal.SIGKILL)
        return bool(word)

    def begin(self, channel: socket.socket) -> None:
        try:
            pid = os.fork()
        except OSError as error:
            send(channel, f"the supervisor cannot be forked: {error.strerror}", socket.MSG_DONTWAIT)
            channel.close()
            return
        if pid:
            self.runs[pid] = channel
            return
        code = 1
        try:
            os.dup2(channel.fileno(), 0)
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            os.closerange(3, os.sysconf("SC_OPEN_MAX"))
            code = supervise()
        finally:
            os._exit(code)

    def reap(self) -> None:
        """Collect who has ended; the judge learns of a supervisor that died before it had answered."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                break
            if pid == 0:
                break
            channel = self.runs.pop(pid, None)
            if channel is None:
                continue
            if status:
                # part of an answer that nobody reads yet may fill it
                send(channel, f"the supervisor {_ending(status)}", socket.MSG_DONTWAIT)
            channel.close()
        for pid in children(os.getpid()):
            if pid not in self.runs:  # an orphan of a supervisor that was killed; its children come here in their turn
                with contextlib.suppress(OSError):
                    os.kill(pid, signal.SIGKILL)


def _ending(status: int) -> str:
    code = os.waitstatus_to_exitcode(status)
    return f"died by signal {-code}" if code < 0 else f"failed with {code}"


def send(channel: socket.socket, answer: object, flags: int = 0) -> None:
    """Eight bytes of length and the answer. A judge that is gone needs none."""
    data = marshal.dumps(answer)
    with contextlib.suppress(OSError):
        channel.sendall(len(data).to_bytes(8, "little") + data, flags)


def read_request() -> bytes:
    """Eight bytes of length and then the request; what follows is for `Run.watch`."""
    data = b""
    while len(data) < 8 or len(data) < 8 + int.from_bytes(data[:8], "little"):
        most = 8 + int.from_bytes(data[:8], "little") - len(data) if len(data) >= 8 else 8 - len(data)
        part = os.read(0, most)
        if not part:
            raise SystemExit(1)  # the judge is gone before it asked
        data += part
    return data[8:]


def supervise() -> int:
    """In the fork: one run, from the request to the answer, on the socket that is its stdin."""
    channel = socket.socket(fileno=0)
    become_subreaper()
    send(channel, os.getpid())
    request: dict = {"uid": None}
    try:
        request = marshal.loads(read_request()) | {"server": os.getppid()}
        answer: object = run(request)
    except Exception:
        kill_all(request["uid"])
        answer = f"the supervisor failed: {traceback.format_exc()[-1000:]}"
    send(channel, answer)
    return 0


def serve() -> int:
    """Until the judge is gone and every run has ended."""
    return Server().serve()
