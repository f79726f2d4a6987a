"""Work on many rows at once, in bounded memory: no more rows are read than can be worked on.

Threads are enough where the work is done by processes that they wait for (compilers, programs, oracles); what Python itself computes
goes to processes. Standard library only.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    Executor,
    Future,
    ProcessPoolExecutor,
    ThreadPoolExecutor,
    wait,
)
from functools import partial
from itertools import chain, islice, repeat
from typing import TypeVar

from ..text import one_line
from .stage_rows import NotSettled


Given = TypeVar("Given")
Result = TypeVar("Result")
CHUNK = 64  # items that go to a process at a time
Results = Iterator[tuple[Given, Result | NotSettled]]
"""(item, result) as the results come in; or why there is none, of an item whose process was lost."""


def cpu_count() -> int:
    """The CPUs this process may use."""
    return len(os.sched_getaffinity(0))


def unordered_map(
    work: Callable[[Given], Result],
    items: Iterable[Given],
    *,
    workers: int | None = None,
    processes: bool = False,
) -> Results:
    """Take items through `work`; at most twice as many items as workers are held, or as many chunks of them.

    Args:
        work: raises nothing that should not end the run.
        workers: None: one a CPU. 1: this thread.
        processes: for work that Python does itself, in chunks of items; `work` has to be picklable. Fewer items than a chunk are done here.
    """
    if processes and workers != 1:
        return _in_chunks(work, iter(items), workers)
    if workers == 1:
        return ((item, work(item)) for item in items)
    count = workers or cpu_count()
    return _pool(partial(ThreadPoolExecutor, count, thread_name_prefix="curate"), work, items, count)


def _in_chunks(work: Callable[[Given], Result], items: Iterator[Given], workers: int | None) -> Results:
    first = list(islice(items, CHUNK))
    if len(first) < CHUNK:
        yield from ((item, work(item)) for item in first)
        return
    context = multiprocessing.get_context("forkserver")
    # Imported once, and shared by the processes: SciPy and what else comes with the stages.
    context.set_forkserver_preload([name for name in sys.modules if name.startswith(__package__)])

    def in_chunks(items: Iterator[Given], size: int, count: int) -> Results:
        chunks = iter(lambda: list(islice(items, size)), [])
        each = partial(_each, work)
        make = partial(ProcessPoolExecutor, count, mp_context=context, initializer=_end_with_parent)
        for chunk, results in _pool(make, each, chunks, count):
            yield from zip(chunk, repeat(results) if isinstance(results, NotSettled) else results, strict=False)

    lost = []
    for item, result in in_chunks(chain(first, items), CHUNK, workers or cpu_count()):
        if isinstance(result, NotSettled):
            lost.append(item)
        else:
            yield item, result
    # Which of them it was: the others were in its chunk, or worked on beside it.
    yield from in_chunks(iter(lost), 1, 1)


def _each(work: Callable[[Given], Result], items: list[Given]) -> list[Result]:
    return [work(item) for item in items]


def _end_with_parent() -> None:
    """A process that was killed must not leave its workers behind, who would wait for ever."""

    def wait_for_parent() -> None:
        multiprocessing.parent_process().join()
        os._exit(1)

    threading.Thread(target=wait_for_parent, daemon=True).start()


def _in_flight(
    submit: Callable[[Given], Future[Result]], items: Iterable[Given], most: int
) -> Iterator[tuple[Given, Future[Result]]]:
    """(item, its future) as they end. most: items that are begun and have not ended."""
    waiting: dict[Future[Result], Given] = {}

    def ended() -> Iterator[tuple[Given, Future[Result]]]:
        for future in wait(waiting, return_when=FIRST_COMPLETED).done:
            yield waiting.pop(future), future

    for item in items:
        waiting[submit(item)] = item
        if len(waiting) >= most:
            yield from ended()
    while waiting:
        yield from ended()


def _pool(
    make: Callable[[], Executor], work: Callable[[Given], Result], items: Iterable[Given], count: int
) -> Results:
    pool = make()

    def submit(item: Given) -> Future[Result]:
        nonlocal pool
        try:
            return pool.submit(work, item)
        except BrokenExecutor:
            pool = make()
            return pool.submit(work, item)

    try:
        for item, future in _in_flight(submit, items, 2 * count if count > 1 else 1):
            try:
                yield item, future.result()
            except BrokenExecutor as error:
                yield item, NotSettled("worker_lost", f"its process was lost: {one_line(error, 500)}")
    finally:
        # After Ctrl-C: what has not begun never does; what runs ends in its own time limit.
        pool.shutdown(wait=True, cancel_futures=True)
