"""Work on many rows at once, in bounded memory: no more rows are read than can be worked on.

Threads are enough where the work is done by programs that they wait for (compilers, oracles, a model server); what Python itself
computes goes to processes.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from itertools import chain, islice
from multiprocessing.pool import AsyncResult, ThreadPool
from typing import TypeVar

from .rows import CurationError, Row


Outcome = TypeVar("Outcome")
CHUNK = 64  # rows that go to a process at a time; so many processes are started for no fewer rows
AHEAD = 16  # chunks a process, or rows a thread, that are read at a time


def cpu_count() -> int:
    """The number of CPUs this process may use."""
    return len(os.sched_getaffinity(0))


def in_threads(work: Callable[[Row], Outcome], rows: Iterable[Row], workers: int) -> Iterator[Outcome]:
    """Yield outcomes in the order of the rows, of programs that threads wait for; at most AHEAD times as many rows as threads are held, so
    that a program that hangs keeps no thread waiting.

    The threads are daemons: Ctrl-C waits for none of them, as what they make is kept when it is whole.
    """
    if workers == 1:
        yield from map(work, rows)
        return
    given: deque[AsyncResult] = deque()
    with ThreadPool(workers) as pool:
        for row in rows:
            given.append(pool.apply_async(work, (row,)))
            if len(given) == AHEAD * workers:
                yield given.popleft().get()
        for outcome in given:
            yield outcome.get()


def in_processes(work: Callable[[Row], Outcome], rows: Iterable[Row], workers: int) -> Iterator[Outcome]:
    """As `in_threads`, of what Python computes. With one worker, or few rows, this process does the work."""
    rows = iter(rows)
    first = list(islice(rows, CHUNK))
    rows = chain(first, rows)
    if workers == 1 or len(first) < CHUNK:
        yield from map(work, rows)
        return
    context = multiprocessing.get_context("forkserver")
    # Imported once, and shared by the processes: SciPy and what else comes with the stages.
    context.set_forkserver_preload([name for name in sys.modules if name.startswith(__package__)])
    try:
        with ProcessPoolExecutor(workers, mp_context=context, initializer=_end_with_parent) as pool:
            while window := list(islice(rows, AHEAD * CHUNK * workers)):
                yield from pool.map(work, window, chunksize=CHUNK)
    except BrokenProcessPool:
        raise CurationError("a process at work was lost, perhaps for want of memory; try workers=1.") from None


def _end_with_parent() -> None:
    """A process that was killed must not leave its workers behind, who would wait for ever."""

    def wait_for_parent() -> None:
        multiprocessing.parent_process().join()
        os._exit(1)

    threading.Thread(target=wait_for_parent, daemon=True).start()
