"""Run a sandboxed command in the background, so that the judge can exchange messages with it while it runs."""

import socket
import threading
from collections.abc import Sequence
from typing import Any

from .limits import SandboxError
from .process import run_sandboxed
from .supervision import Finished


class BackgroundRun:
    """A call of `run_sandboxed` in a thread of its own, which `start` begins. It sets `channel` and `stop` itself.

    Attributes:
        socket: The judge's end of a socket pair, which the caller closes. The command has the other end as its stdin.
    """

    def __init__(self, command: Sequence[str], **how: Any) -> None:
        self.socket, self._its = socket.socketpair()
        self._command, self._how = command, how
        self._stop = threading.Event()
        self._ended = Finished(infra="the sandbox did not say how the process ended")
        self._thread = threading.Thread(target=self._run, daemon=True)

    def start(self) -> None:
        """Start the command and return at once."""
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
        """True while the command runs and `end` has not stopped it."""
        return self._thread.is_alive() and not self._stop.is_set()

    def end(self, patience_s: float = 0.0) -> Finished:
        """Stop the command if it does not end by itself within `patience_s` seconds, and return how it ended.

        Afterwards none of its processes is left.
        """
        self._thread.join(patience_s)
        self._stop.set()
        self._thread.join()
        return self._ended
