"""The process between the judge and what it runs, started once a judge as `python -I -S __main__.py`; it forks a supervisor for each run.

A supervisor is alone in its process (one thread, the standard library), so that it can be the reaper of every orphan the program
leaves, may fork safely, and copies files without another thread's fork holding them open. Starting Python for each run would take
longer than all the rest. Requests and answers travel as `marshal` writes them: both ends are the same Python.

stdin is a socket on which the judge sends, for each run, the request and a socket of the run's own, where the supervisor answers and
the judge may say a word. When stdin closes, or the judge's process ends, nothing more is begun, and the runs' sockets are shut: each
supervisor takes that for the judge's end and kills what it watches. This process ends last, with nothing left below it.

`__main__.py probe FOLDER` tries instead whether Landlock and seccomp hold here, and says what does not on stderr.
"""

from __future__ import annotations

import contextlib
import gc
import marshal
import os
import select
import signal
import socket
import sys
import traceback


sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))  # -I leaves it out

from confine import become_subreaper, probe
from loop import run
from tree import children, kill_all


class Server:
    """One for each judge. Single-threaded, never blocks on a run."""

    def __init__(self) -> None:
        self.judge = socket.socket(fileno=0)
        self.runs: dict[int, socket.socket] = {}  # pid of a supervisor -> its end of the run's socket
        self.woken, self.waker = os.pipe()
        os.set_blocking(self.waker, False)
        self.poll = select.poll()
        self.open = True

    def serve(self) -> None:
        """Until the judge is gone and every run has ended."""
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
                    os.read(self.woken, 4096)
                    self.reap()
                elif self.open and (fd != self.judge.fileno() or not self.obey()):
                    self.leave()

    def leave(self) -> None:
        """The judge is gone. A fork of it may hold its ends of the runs' sockets, so that they do not close by themselves."""
        self.open = False
        self.poll = select.poll()
        self.poll.register(self.woken, select.POLLIN)
        for channel in self.runs.values():
            with contextlib.suppress(OSError):
                channel.shutdown(socket.SHUT_RDWR)

    def obey(self) -> bool:
        """Fork a supervisor for one request. False when the judge is gone."""
        try:
            request, fds, _, _ = socket.recv_fds(self.judge, 1 << 18, 1)
        except OSError:
            return False
        if not fds:
            return False
        channel = socket.socket(fileno=fds[0])
        try:
            pid = os.fork()
        except OSError as error:
            send(channel, f"the supervisor cannot be forked: {error.strerror}", socket.MSG_DONTWAIT)
            channel.close()
            return True
        if pid:
            self.runs[pid] = channel
            return True
        try:
            os.dup2(channel.fileno(), 0)
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            os.closerange(3, os.sysconf("SC_OPEN_MAX"))
            supervise(marshal.loads(request) | {"server": os.getppid()})
        except BaseException:
            os._exit(1)
        os._exit(0)

    def reap(self) -> None:
        """Collect who has ended; the judge learns of a supervisor that died before it had answered."""
        with contextlib.suppress(ChildProcessError):
            while (ended := os.waitpid(-1, os.WNOHANG))[0]:
                channel = self.runs.pop(ended[0], None)
                if channel is None:
                    continue
                if code := os.waitstatus_to_exitcode(ended[1]):
                    how = f"died by signal {-code}" if code < 0 else f"failed with {code}"
                    # part of an answer that nobody reads yet may fill the socket
                    send(channel, f"the supervisor {how}", socket.MSG_DONTWAIT)
                channel.close()
        for pid in children(os.getpid()):
            if pid not in self.runs:  # an orphan of a supervisor that was killed; its children come here in their turn
                with contextlib.suppress(OSError):
                    os.kill(pid, signal.SIGKILL)


def send(channel: socket.socket, answer: object, flags: int = 0) -> None:
    with contextlib.suppress(OSError):  # a judge that is gone needs no answer
        channel.sendall(marshal.dumps(answer), flags)


def supervise(request: dict) -> None:
    """In the fork: one run, whose answer goes to the socket that is its stdin."""
    channel = socket.socket(fileno=0)
    become_subreaper()
    send(channel, os.getpid())
    try:
        answer: object = run(request)
    except Exception:
        kill_all(request["uid"])
        answer = f"the supervisor failed: {traceback.format_exc()[-1000:]}"
    send(channel, answer)


if sys.argv[1:2] == ["probe"]:
    sys.exit(probe(sys.argv[2]))
Server().serve()
