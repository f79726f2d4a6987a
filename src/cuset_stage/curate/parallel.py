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
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    Future,
    ProcessPoolExecutor,
    ThreadPoolExecutor,
    as_completed,
    wait,
)
from functools import partial
from itertools import chain, islice
from typing import TypeVar

from ..text import one_line
from .stage_rows import NotSettled


Given = TypeVar("Given")
Result = TypeVar("Result")
CHUNK = 64  # items that go to a process at a time; so many processes are started for no fewer items
_FORKSERVER = multiprocessing.get_context("forkserver")


def cpu_count() -> int:
    """The number of CPUs this process may use."""
    return len(os.sched_getaffinity(0))


def in_threads(
    work: Callable[[Given], Result], items: Iterable[Given], workers: int
) -> Iterator[tuple[Given, Result]]:
    """Yield (item, result) in the order in which results come in. At most twice as many items as threads are held.

    What `work` raises ends the iteration.
    """
    running: dict[Future[Result], Given] = {}
    pool = ThreadPoolExecutor(workers, thread_name_prefix="curate")
    try:
        for item in items:
            running[pool.submit(work, item)] = item
            if len(running) >= 2 * workers:
                for future in wait(running, return_when=FIRST_COMPLETED).done:
                    yield running.pop(future), future.result()
        for future in as_completed(running):
            yield running[future], future.result()
    finally:
        # After Ctrl-C: what has not begun never does; what runs ends in its own time limit.
        pool.shutdown(cancel_futures=True)


def in_processes(
    work: Callable[[Given], Result], items: Iterable[Given], workers: int
) -> Iterator[tuple[Given, Result | NotSettled]]:
    """Yield (item, result) in the order of the items; NotSettled for an item at which a process crashes.

    `work` and the items have to be picklable. With one worker, or fewer items than a chunk, this process does the work.
    """
    items = iter(items)
    chunks = iter(lambda: list(islice(items, CHUNK)), [])
    first = next(chunks, [])
    if workers == 1 or len(first) < CHUNK:
        yield from ((item, work(item)) for item in chain(first, items))
        return
    # Imported once, and shared by the processes: SciPy and what else comes with the stages.
    _FORKSERVER.set_forkserver_preload([name for name in sys.modules if name.startswith(__package__)])
    make_pool = partial(ProcessPoolExecutor, workers, mp_context=_FORKSERVER, initializer=_end_with_parent)
    pool = make_pool()
    running: deque[tuple[list[Given], Future[list[Result]]]] = deque()
    try:
        for chunk in chain([first], chunks):
            try:
                future = pool.submit(_work_on_chunk, work, chunk)
            except BrokenExecutor:
                pool = make_pool()
                future = pool.submit(_work_on_chunk, work, chunk)
            running.append((chunk, future))
            if len(running) >= 2 * workers:
                yield from _chunk_results(work, *running.popleft())
        while running:
            yield from _chunk_results(work, *running.popleft())
    finally:
        pool.shutdown(cancel_futures=True)


def _work_on_chunk(work: Callable[[Given], Result], chunk: list[Given]) -> list[Result]:
    return [work(item) for item in chunk]


def _chunk_results(
    work: Callable[[Given], Result], chunk: list[Given], future: Future[list[Result]]
) -> Iterator[tuple[Given, Result | NotSettled]]:
    try:
        results = future.result()
    except BrokenExecutor:  # at an item of this chunk, or of one beside it: each goes alone to one process
        results = _one_by_one(work, chunk)
    yield from zip(chunk, results, strict=True)


def _one_by_one(work: Callable[[Given], Result], chunk: list[Given]) -> Iterator[Result | NotSettled]:
    make_pool = partial(ProcessPoolExecutor, 1, mp_context=_FORKSERVER, initializer=_end_with_parent)
    pool = make_pool()
    try:
        for item in chunk:
            try:
                yield pool.submit(work, item).result()
            except BrokenExecutor as error:
                pool = make_pool()
                yield NotSettled("worker_lost", f"its process was lost: {one_line(error, 500)}")
    finally:
        pool.shutdown(cancel_futures=True)


def _end_with_parent() -> None:
    """A process that was killed must not leave its workers behind, who would wait for ever."""

    def wait_for_parent() -> None:
        multiprocessing.parent_process().join()
        os._exit(1)

    threading.Thread(target=wait_for_parent, daemon=True).start()
