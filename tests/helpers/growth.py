"""Whether time grows with the length of a text and not with its square, whatever the machine does meanwhile."""

import time
from collections.abc import Callable
from typing import Any


RUNS = 3


def cpu_seconds(call: Callable[[str], Any], text: str) -> float:
    start = time.process_time()
    call(text)
    return time.process_time() - start


def grows_linearly(call: Callable[[str], Any], small: str, large: str) -> bool:
    """Eight times the text: eight times the time, not sixty-four, in the best of a few runs of each."""
    limit = 30 * min(cpu_seconds(call, small) for _ in range(RUNS)) + 0.05
    return any(cpu_seconds(call, large) < limit for _ in range(RUNS))  # the best one is below it, too
