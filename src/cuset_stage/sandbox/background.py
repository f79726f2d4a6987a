"""A sandboxed command that the judge talks with while it runs."""

import socket
import threading
from collections.abc import Sequence
from typing import Any

from .limits import SandboxError
from .process import run_sandboxed
from .supervision import Finished


class BackgroundRun:
    """`run_sandboxed` in a thread, from `start` on. socket: the other end of what the command has as its stdin; the caller closes it.

    how: the keyword arguments of `run_sandboxed`, without `channel` and `stop`.
    """

    def __init__(self, command: Sequence[str], **how: Any) -> None:
        self.socket, self._its = socket.socketpair()
        self._command, self._how = command, how
        self._stop = threading.Event()
        self._ended = Finished(infra="the sandbox did not say how the process ended")
        self._thread = threading.Thread(target=self._run, daemon=True)

    def start(self) -> None:
        self._thread.start()

    def _run(self) -> None:
        try:
            self._ended = run_sandboxed(self._command, channel=self._its, stop=self._stop, **self._how)
        except (SandboxError, OSError) as error:
            self._ended = Finished(infra=str(error))
        finally:
            self._its.close()

    @property
    def alive(self) -> bool:
        """Whether it runs, and nobody has ended it."""
        return self._thread.is_alive() and not self._stop.is_set()

    def end(self, patience_s: float = 0.0) -> Finished:
        """How it ended; what does not end by itself within these seconds is stopped. Nothing of it is left."""
        self._thread.join(patience_s)
        self._stop.set()
        self._thread.join()
        return self._ended
