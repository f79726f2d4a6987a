"""Work on many rows at once, in bounded memory: no more rows are read than can be worked on.

Threads are enough where the work is done by processes that they wait for (compilers, programs, oracles); what Python itself computes
goes to processes. With Ray the same function runs on every machine of a cluster, or on every one with GPUs. Standard library only,
until Ray is asked for.
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
from math import ceil
from typing import Any, TypeVar

from ..text import one_line
from .stage_rows import CurationError, NotSettled


Given = TypeVar("Given")
Result = TypeVar("Result")
CHUNK = 64  # items that go to a process at a time
RAY_RETRIES = 3  # of an item whose process or machine was lost
Results = Iterator[tuple[Given, Result | NotSettled]]
"""(item, result) as the results come in; or why there is none, of an item whose process or machine was lost."""


def cpu_count() -> int:
    """The CPUs this process may use."""
    return len(os.sched_getaffinity(0))


def unordered_map(
    work: Callable[[Given], Result],
    items: Iterable[Given],
    *,
    workers: int | None = None,
    processes: bool = False,
    ray: bool = False,
    per_gpu: int | None = None,
) -> Results:
    """Take items through `work`; at most twice as many items as workers are held, or as many chunks of them.

    Args:
        work: raises nothing that should not end the run; for Ray it has to be picklable.
        workers: None: one a CPU (Ray: one a CPU of the cluster). 1: this thread.
        processes: for work that Python does itself, in chunks of items; `work` has to be picklable. Fewer items than a chunk are done here.
        per_gpu: for Ray: items that use a GPU at a time on each. They go to machines with GPUs alone, as many as their CPUs and GPUs
            keep busy; each sees one GPU. None: items need no GPU.

    Raises:
        CurationError: Ray is not installed, or no machine has GPUs.
    """
    if processes and workers != 1:
        return _in_chunks(work, iter(items), workers, ray)
    if ray:
        return _ray(work, items, workers, per_gpu)
    if workers == 1:
        return ((item, work(item)) for item in items)
    count = workers or cpu_count()
    return _pool(partial(ThreadPoolExecutor, count, thread_name_prefix="curate"), work, items, count)


def _in_chunks(work: Callable[[Given], Result], items: Iterator[Given], workers: int | None, ray: bool) -> Results:
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
        for chunk, results in _ray(each, chunks, workers, None) if ray else _pool(make, each, chunks, count):
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


def _ray(work: Callable[[Given], Result], items: Iterable[Given], workers: int | None, per_gpu: int | None) -> Results:
    ray = _cluster()
    _, width, options = _places(ray, per_gpu)
    # Ray tries again what was lost; a row has one result all the same, because only this process writes it.
    remote = ray.remote(max_retries=RAY_RETRIES, **options)(_called)
    shared = ray.put(work)  # sent to a machine once, not with every row
    for item, future in _in_flight(lambda item: remote.remote(shared, item).future(), items, 2 * (workers or width)):
        try:
            yield item, future.result()
        except ray.exceptions.RayTaskError as error:
            raise error.cause from None  # what `work` raised
        except ray.exceptions.RayError as error:
            why = f"its process or machine was lost, also when it was tried again: {type(error).__name__}"
            yield item, NotSettled("worker_lost", f"{why}: {one_line(error, 500)}")


def on_each_machine(call: Callable[[], Result], *, per_gpu: int | None = None) -> list[Result]:
    """What `call` returns on each machine to which `unordered_map` with Ray and the same `per_gpu` would send items.

    Raises:
        CurationError: Ray is not installed, no machine has GPUs, or the call fails on one.
    """
    ray = _cluster()
    nodes, _, options = _places(ray, per_gpu)
    remote = ray.remote(**options)(_called)
    affinity = ray.util.scheduling_strategies.NodeAffinitySchedulingStrategy
    calls = [remote.options(scheduling_strategy=affinity(node["NodeID"], soft=False)).remote(call) for node in nodes]
    try:
        return ray.get(calls)
    except ray.exceptions.RayError as error:
        raise CurationError(f"executor=ray: {getattr(error, 'cause', None) or one_line(error, 500)}") from None


def _called(work: Callable[..., Result], *given: Any) -> Result:
    return work(*given)  # Ray takes functions, and `work` is an object with settings


def _cluster() -> Any:
    """The module `ray`, connected."""
    try:
        import ray
    except ImportError:
        raise CurationError(
            "executor=ray: Ray is not installed; `pip install ray`, or leave the option out."
        ) from None
    if not ray.is_initialized():
        ray.init(log_to_driver=False, configure_logging=False)
    return ray


def _places(ray: Any, per_gpu: int | None) -> tuple[list[dict[str, Any]], int, dict[str, Any]]:
    """The machines on which items are worked on, how many items at a time on all of them, and what Ray is told of each item."""
    kind = "CPU" if per_gpu is None else "GPU"
    nodes = [node for node in ray.nodes() if node["Alive"] and node["Resources"].get(kind, 0) > 0]
    if not nodes:
        raise CurationError(
            f"executor=ray: no machine of the cluster has a {kind}; no_gpu=true or compile_only=true need none."
        )
    cpus, gpus = (int(sum(node["Resources"].get(name, 0) for node in nodes)) for name in ("CPU", "GPU"))
    if per_gpu is None:
        return nodes, cpus, {"num_cpus": 1}
    # An item takes a part of a GPU, so that others are compiled while its program runs there. Leases keep programs apart.
    a_gpu = per_gpu + ceil(cpus / gpus)
    part = 10_000 // a_gpu / 10_000  # Ray counts in these units
    # max_calls: Ray would begin a new process for every item that takes a GPU.
    return nodes, a_gpu * gpus, {"num_cpus": 0, "num_gpus": part, "max_calls": 0}
