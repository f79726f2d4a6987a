"""Work on many rows at once, in bounded memory: no more rows are read than can be worked on.

Threads are enough, because the work is done by processes that the threads wait for (compilers, programs, oracles). With Ray
the same function runs on every machine of a cluster. Standard library only, until Ray is asked for.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from enum import StrEnum
from typing import TypeVar

from .rows import CurationError


Given = TypeVar("Given")
Result = TypeVar("Result")


class Executor(StrEnum):
    """Where the rows of a stage are worked on."""

    INLINE = "inline"
    THREADS = "threads"
    RAY = "ray"


def cpu_count() -> int:
    """The CPUs this process may use."""
    return len(os.sched_getaffinity(0))


def unordered_map(
    work: Callable[[Given], Result],
    items: Iterable[Given],
    *,
    executor: Executor = Executor.INLINE,
    workers: int | None = None,
) -> Iterator[tuple[Given, Result]]:
    """(item, result) as the results come in; at most twice as many items as workers are held.

    Args:
        work: raises nothing that should not end the run; for Ray it has to be picklable.
        workers: None: one a CPU (Ray: one a CPU of the cluster).

    Raises:
        CurationError: workers is out of its range; said before the first item is read.
    """
    check_workers(workers)
    if executor is Executor.INLINE or (executor is Executor.THREADS and workers == 1):
        return ((item, work(item)) for item in items)
    if executor is Executor.THREADS:
        return _threads(work, items, workers or cpu_count())
    return _ray(work, items, workers)


def check_workers(workers: int | None) -> None:
    """For stages that would write, or throw away, something before their first row.

    Raises:
        CurationError: fewer than one.
    """
    if workers is not None and workers < 1:
        raise CurationError(f"--workers {workers}: at least 1; leave the option out for as many as there are CPUs.")


def _threads(work: Callable[[Given], Result], items: Iterable[Given], workers: int) -> Iterator[tuple[Given, Result]]:
    waiting: dict[Future[Result], Given] = {}
    pool = ThreadPoolExecutor(workers, thread_name_prefix="curate")
    try:
        for item in items:
            waiting[pool.submit(work, item)] = item
            if len(waiting) >= 2 * workers:
                yield from _finished(waiting)
        while waiting:
            yield from _finished(waiting)
    finally:
        # After Ctrl-C: what has not begun never does; what runs ends in its own time limit.
        pool.shutdown(wait=True, cancel_futures=True)


def _finished(waiting: dict[Future[Result], Given]) -> Iterator[tuple[Given, Result]]:
    done, _ = wait(waiting, return_when=FIRST_COMPLETED)
    for future in done:
        yield waiting.pop(future), future.result()


def _ray(
    work: Callable[[Given], Result], items: Iterable[Given], workers: int | None
) -> Iterator[tuple[Given, Result]]:
    try:
        import ray
    except ImportError:
        raise CurationError(
            "--executor ray: Ray is not installed; `pip install ray`, or leave the option out."
        ) from None
    if not ray.is_initialized():
        ray.init(log_to_driver=False, configure_logging=False)
    # Ray retries a task whose machine went away; a row has one result all the same, because only this process writes it.
    remote = ray.remote(num_cpus=1, max_retries=3)(_called)
    shared = ray.put(work)  # sent to a machine once, not with every row
    limit = 2 * (workers or max(1, int(ray.cluster_resources().get("CPU", 1))))
    waiting: dict[object, Given] = {}
    for item in items:
        waiting[remote.remote(shared, item)] = item
        if len(waiting) >= limit:
            yield from _ray_finished(ray, waiting)
    while waiting:
        yield from _ray_finished(ray, waiting)


def _called(work: Callable[[Given], Result], item: Given) -> Result:
    return work(item)  # Ray takes functions, and `work` is an object with settings


def _ray_finished(ray: object, waiting: dict[object, Given]) -> Iterator[tuple[Given, Result]]:
    done, _ = ray.wait(list(waiting), num_returns=1)  # type: ignore[attr-defined]
    for reference in done:
        yield waiting.pop(reference), ray.get(reference)  # type: ignore[attr-defined]
