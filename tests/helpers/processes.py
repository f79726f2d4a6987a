"""Processes that a test starts beside its own, and waiting for what they do."""

import signal
import time
from collections.abc import Callable
from typing import Any


# For Popen. If the tests were started in the background, SIGINT is ignored, and the child would inherit that.
HEARS_CTRL_C: dict[str, Any] = {"preexec_fn": lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)}


def until(condition: Callable[[], object], seconds: float = 120.0) -> bool:
    """Wait until the condition holds, at most `seconds`, and return whether it does."""
    deadline = time.monotonic() + seconds
    while not (holds := condition()) and time.monotonic() < deadline:
        time.sleep(0.05)
    return bool(holds)
