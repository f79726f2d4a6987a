"""A check that a function takes time linear in the length of a text, not quadratic.

It measures CPU time and takes the best of a few runs, so that other programs on the machine do not disturb it.
"""

import time
from collections.abc import Callable
from typing import Any


RUNS = 3


def cpu_seconds(call: Callable[[str], Any], text: str) -> float:
    """Return the CPU time of one call, in seconds."""
    start = time.process_time()
    call(text)
    return time.process_time() - start


def grows_linearly(call: Callable[[str], Any], small: str, large: str) -> bool:
    """Return whether `call` takes linear time. `large` has to be eight times as long as `small`.

    Linear time grows by a factor of 8 and quadratic time by a factor of 64. The limit is 30 times, plus 0.05 s.
    """
    limit = 30 * min(cpu_seconds(call, small) for _ in range(RUNS)) + 0.05
    return any(cpu_seconds(call, large) < limit for _ in range(RUNS))  # if any run is fast enough, so is the best one
