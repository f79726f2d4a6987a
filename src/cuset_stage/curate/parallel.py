"""Work on many rows in parallel with bounded memory: rows are read only a limited number ahead of the work.

Threads suffice if they mostly wait for other programs (compilers, oracles, a model server). Work that Python itself
computes goes to processes.
"""

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
CHUNK = 64  # rows sent to a process at a time; for fewer rows in all, no processes are started
AHEAD = 16  # chunks per process, or rows per thread, that are read ahead


def cpu_count() -> int:
    """Return the number of CPUs that this process may use."""
    return len(os.sched_getaffinity(0))


def in_threads(work: Callable[[Row], Outcome], rows: Iterable[Row], workers: int) -> Iterator[Outcome]:
    """Apply `work` to the rows in threads, and yield the outcomes in the order of the rows.

    For work that waits for other programs. Up to AHEAD rows per thread are in flight, so that a program that hangs
    does not leave the other threads idle. An error is raised when the rows in work are done, because they may wait for
    replies that are paid for. The threads are daemons, so Ctrl-C does not wait for them. What they wait for is lost.

    Args:
        work: the function to apply. It must be thread-safe.
        rows: the rows, read as needed.
        workers: the number of threads. With 1 the calling thread does the work.
    """
    if workers == 1:
        yield from map(work, rows)
        return
    pending: deque[AsyncResult] = deque()
    with ThreadPool(workers) as pool:
        try:
            for row in rows:
                pending.append(pool.apply_async(work, (row,)))
                if len(pending) == AHEAD * workers:
                    yield pending.popleft().get()
            for outcome in pending:
                yield outcome.get()
        except Exception:
            pool.terminate()  # begins no further row
            pool.join()
            raise


def in_processes(work: Callable[[Row], Outcome], rows: Iterable[Row], workers: int) -> Iterator[Outcome]:
    """Like `in_threads`, but in processes, for work that Python itself computes.

    With one worker, or fewer than CHUNK rows, the calling process does the work.

    Raises:
        CurationError: a worker process was lost.
    """
    rows = iter(rows)
    first = list(islice(rows, CHUNK))
    rows = chain(first, rows)
    if workers == 1 or len(first) < CHUNK:
        yield from map(work, rows)
        return
    context = multiprocessing.get_context("forkserver")
    # The fork server imports the stages and their dependencies (SciPy and others) once for all processes.
    context.set_forkserver_preload([name for name in sys.modules if name.startswith(__package__)])
    try:
        with ProcessPoolExecutor(workers, mp_context=context, initializer=_end_with_parent) as pool:
            while window := list(islice(rows, AHEAD * CHUNK * workers)):
                yield from pool.map(work, window, chunksize=CHUNK)
    except BrokenProcessPool:
        raise CurationError("a process at work was lost, perhaps for want of memory; try workers=1.") from None


def _end_with_parent() -> None:
    """Make a worker exit when its parent does. If the parent is killed, its workers would otherwise wait for ever."""

    def wait_for_parent() -> None:
        multiprocessing.parent_process().join()
        os._exit(1)

    threading.Thread(target=wait_for_parent, daemon=True).start()
