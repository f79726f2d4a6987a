"""Judge many answers at a time on this machine: compile on the CPUs while programs run on the GPUs.

Each answer has a thread that takes its turn at building, and then at running; waiting threads are cheap, and who came first has the next turn.
The cases of a task are prepared once: where that takes long, beside the first answer's compilation; else as soon as it compiles.
"""

import heapq
import itertools
import logging
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

from ..sandbox import SandboxError
from ..tasks import Task
from .devices import NoGpuLeft
from .judgement import Built, Judge, Judgement, infra_error
from .oracle_scripts import OracleError, last_line


logger = logging.getLogger(__name__)
T = TypeVar("T")
FIRST_WAIT_S = 1.0


@dataclass(frozen=True)
class Job:
    """One program to judge. samples: whatever the caller judges it for."""

    task: Task
    code: str
    samples: tuple[Any, ...] = ()


def describe(error: BaseException) -> str:
    """The judge's own errors speak for themselves; of others the type is the better half."""
    if isinstance(error, OracleError | SandboxError | NoGpuLeft):
        return str(error)
    return f"{type(error).__name__}: {error}"


def in_order(jobs: Sequence[Job], cost: Callable[[Task], float]) -> list[Job]:
    """The task that is prepared longest, the quickest, the second longest, ...: nothing long is left to the end, and GPUs need not wait for
    it. Jobs of one task stay together, so that its cases are made, used and done with."""
    tasks = {job.task.fingerprint: job.task for job in jobs}
    costs = {key: cost(task) for key, task in tasks.items()}
    ranked = sorted(tasks, key=costs.__getitem__, reverse=True)
    places = [*range(0, len(ranked), 2), *reversed(range(1, len(ranked), 2))]
    order = dict(zip(ranked, places, strict=True))
    return sorted(jobs, key=lambda job: order[job.task.fingerprint])


class Places:
    """Room for so many at a time. Of those that wait, the one with the lowest rank comes first."""

    def __init__(self, count: int) -> None:
        self._free = count
        self._waiting: list[tuple[int, int, threading.Lock]] = []
        self._arrivals = itertools.count()
        self._guard = threading.Lock()

    @contextmanager
    def taken(self, rank: int) -> Iterator[None]:
        turn = threading.Lock()
        turn.acquire()
        with self._guard:
            heapq.heappush(self._waiting, (rank, next(self._arrivals), turn))
        self._let_in()
        turn.acquire()
        try:
            yield
        finally:
            with self._guard:
                self._free += 1
            self._let_in()

    def _let_in(self) -> None:
        with self._guard:
            while self._free and self._waiting:
                self._free -= 1
                heapq.heappop(self._waiting)[2].release()


class Pipeline:
    """Judges jobs with threads.

    Args:
        jobs: Compilations and preparations of tasks at a time.
        runs: Programs at a time; the GPU pool lets in as many as there are GPUs.
        retries: Further tries when the judge's side fails, after 1, 2, 4, ... seconds.
    """

    def __init__(self, judge: Judge, *, jobs: int, runs: int, retries: int = 2) -> None:
        self._judge = judge
        self._retries = retries
        self._stop = threading.Event()
        self._threads = ThreadPoolExecutor(2 * (jobs + runs), thread_name_prefix="judge")
        self._preparing = ThreadPoolExecutor(jobs, thread_name_prefix="prepare")
        # One more than prepare, so that answers to other tasks are built meanwhile.
        self._processors = Places(jobs + 1)
        self._programs = Places(runs)
        self._prepared: dict[str, Future[Any]] = {}
        self._left: Counter[str] = Counter()
        self._guard = threading.Lock()

    def run(self, jobs: Sequence[Job]) -> Iterator[tuple[Job, Judgement]]:
        """Judgements in the order in which they come; closing the iterator stops what has not begun."""
        try:
            with self._guard:  # all of them, or a task might be done with before its next job is known
                self._left.update(job.task.fingerprint for job in jobs)
            ordered = in_order(jobs, self._judge.preparation_cost)
            judged = {self._threads.submit(self._run, job, rank): job for rank, job in enumerate(ordered)}
            for future in as_completed(judged):
                yield judged[future], future.result()
        finally:
            self.stop()

    def stop(self) -> None:
        """Start nothing more; what is running ends in its own time."""
        self._stop.set()
        for threads in (self._threads, self._preparing):
            threads.shutdown(wait=False, cancel_futures=True)

    def join(self) -> None:
        """Wait for what is running."""
        for threads in (self._threads, self._preparing):
            threads.shutdown(wait=True, cancel_futures=True)

    def _run(self, job: Job, rank: int) -> Judgement:
        built: Built | None = None
        try:
            if self._judge.preparation_cost(job.task):
                self._prepare(job.task, rank)
            with self._turn(self._processors, rank):
                built = self._retried(lambda: self._judge.build(job.task, job.code))
            if built.product is None:
                return built.judgement
            prepared = self._prepare(job.task, rank).result()
            with self._turn(self._programs, rank):
                return self._retried(lambda: self._judge.execute(job.task, built, prepared))
        except Exception as error:
            if isinstance(error, CancelledError):
                raise
            return infra_error(describe(error), built.judgement if built is not None else None)
        finally:
            try:
                self._tidy(job.task, built)
            except Exception as error:  # a verdict is not lost because a folder cannot be removed
                logger.warning("task %s: %s", job.task.id, describe(error))

    @contextmanager
    def _turn(self, places: Places, rank: int) -> Iterator[None]:
        with places.taken(rank):
            if self._stop.is_set():
                raise CancelledError
            yield

    def _prepare(self, task: Task, rank: int) -> Future[Any]:
        """What all answers to the task are judged with; made once, or failed for all."""
        with self._guard:
            ready = self._prepared.get(task.fingerprint)
            if ready is None:
                ready = self._prepared[task.fingerprint] = self._preparing.submit(self._make, task, rank)
            return ready

    def _make(self, task: Task, rank: int) -> Any:
        with self._turn(self._processors, rank):
            return self._retried(lambda: self._judge.prepare(task))

    def _retried(self, step: Callable[[], T]) -> T:
        """What `step` returned at the first try at which it neither raised nor made a judgement that is the judge's failure.

        After the last try its value is returned, or its error raised.
        """
        for tries_left in reversed(range(self._retries + 1)):
            try:
                value = step()
                judgement = value.judgement if isinstance(value, Built) else value
                if not tries_left or not isinstance(judgement, Judgement) or not judgement.infra:
                    return value
                problem = judgement.message
            except Exception as error:
                if not tries_left or isinstance(error, NoGpuLeft):
                    raise
                problem = describe(error)
            wait = FIRST_WAIT_S * 2 ** (self._retries - tries_left)
            logger.warning("the judge failed, next try in %g s: %s", wait, last_line(problem))
            if self._stop.wait(wait):
                break
        raise CancelledError

    def _tidy(self, task: Task, built: Built | None) -> None:
        """Let go of what was kept for this answer, and for its task when this was the last one."""
        if built is not None:
            self._judge.discard(built)
        with self._guard:
            self._left[task.fingerprint] -= 1
            if not self._left[task.fingerprint]:
                self._prepared.pop(task.fingerprint, None)
