"""Judge many answers in parallel on this machine: compile on the CPUs while programs run on the GPUs.

There are three thread pools: to build answers, to prepare the cases of tasks, and to run programs. The cases of a task
are prepared once. If the task has a preparation cost, this starts together with the compilation of its first answer.
Otherwise it starts as soon as an answer compiles.
"""

import itertools
import logging
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from dataclasses import dataclass
from queue import SimpleQueue
from typing import Any, TypeVar

from ..sandbox import SandboxError
from ..tasks import Task
from .devices import NoGpuLeft
from .judgement import Built, Judge, Judgement, infra_error
from .oracle import OracleError, last_line


logger = logging.getLogger(__name__)
T = TypeVar("T")
FIRST_WAIT_S = 1.0


@dataclass(frozen=True)
class Job:
    """One program to judge. `samples` is whatever the caller judges it for, and the pipeline only hands it back."""

    task: Task
    code: str
    samples: tuple[Any, ...] = ()


def describe(error: BaseException) -> str:
    """Return a message for an error. Errors of the judge explain themselves; others are prefixed with their type."""
    if isinstance(error, OracleError | SandboxError | NoGpuLeft):
        return str(error)
    return f"{type(error).__name__}: {error}"


class Pipeline:
    """Judges jobs with threads.

    Args:
        judge: The judge whose steps are run.
        jobs: Number of parallel compilations, and of parallel preparations of tasks.
        runs: Number of programs executed in parallel. The GPU pool limits them to the GPUs that there are.
        retries: Number of further tries if the judge itself fails, after waits of 1, 2, 4, ... seconds.
    """

    def __init__(self, judge: Judge, *, jobs: int, runs: int, retries: int = 2) -> None:
        self._judge = judge
        self._retries = retries
        self._stop = threading.Event()
        self._building = ThreadPoolExecutor(jobs, thread_name_prefix="build")
        self._preparing = ThreadPoolExecutor(jobs, thread_name_prefix="prepare")
        self._running = ThreadPoolExecutor(runs, thread_name_prefix="run")
        # Limit on the jobs in progress. It is high enough to go on compiling while one program has the GPU to itself,
        # for up to a minute.
        self._most = 8 * (jobs + runs)
        # Limit on the tasks whose cases exist. It is lower because cases take space on the disk.
        self._room = threading.Semaphore(2 * (jobs + runs))
        self._with_cases: set[str] = set()
        self._ended: SimpleQueue[tuple[Job, Judgement]] = SimpleQueue()
        self._prepared: dict[str, Future[Any]] = {}
        self._left: Counter[str] = Counter()
        self._guard = threading.Lock()

    def run(self, jobs: Sequence[Job]) -> Iterator[tuple[Job, Judgement]]:
        """Judge the jobs and yield each with its judgement, in the order in which they finish.

        Closing the iterator cancels the jobs that have not begun.

        Tasks are taken in the order longest, quickest, second longest, second quickest, and so on, by their
        preparation cost. So no long task is left to the end, GPUs need not wait for it, and not all of the largest
        data are in memory at the same time. The jobs of one task stay together, so that its cases are made, used and
        released.
        """
        tasks = {job.task.fingerprint: job.task for job in jobs}
        costs = {key: self._judge.preparation_cost(task) for key, task in tasks.items()}
        ranked = sorted(tasks, key=costs.__getitem__, reverse=True)
        middle = (len(ranked) + 1) // 2
        in_turns = itertools.chain(*itertools.zip_longest(ranked[:middle], reversed(ranked[middle:])))
        order = {key: place for place, key in enumerate(in_turns)}
        left = iter(sorted(jobs, key=lambda job: order[job.task.fingerprint]))

        def begin(count: int) -> None:
            for job in itertools.islice(left, count):
                if costs[job.task.fingerprint]:
                    self._prepare(job.task)
                self._building.submit(self._build, job)

        try:
            self._left.update(job.task.fingerprint for job in jobs)
            begin(self._most)
            for _ in jobs:
                ended = self._ended.get()
                begin(1)
                yield ended
        finally:
            self.stop()

    def stop(self) -> None:
        """Start nothing new. Steps that are running already continue to their end."""
        self._stop.set()
        self._room.release(self._most)  # wakes threads that wait for room
        for threads in (self._building, self._preparing):
            threads.shutdown(wait=False, cancel_futures=True)

    def join(self) -> None:
        """Wait for the steps that are still running. Call it after `stop`."""
        for threads in (self._building, self._preparing, self._running):
            threads.shutdown(wait=True)

    def _build(self, job: Job) -> None:
        built = ready = None
        try:
            built = self._retried(lambda: self._judge.build(job.task, job.code))
            judgement = built.judgement
            if built.product is not None:
                ready = self._prepare(job.task)
        except Exception as error:
            judgement = infra_error(describe(error), built and built.judgement)
        if ready is None:
            self._end(job, built, judgement)
        else:
            ready.add_done_callback(lambda ready: self._running.submit(self._execute, job, built, ready))

    def _execute(self, job: Job, built: Built, ready: Future[Any]) -> None:
        try:
            prepared = ready.result()
            judgement = self._retried(lambda: self._judge.execute(job.task, built, prepared))
        except Exception as error:
            judgement = infra_error(describe(error), built.judgement)
        self._end(job, built, judgement)

    def _prepare(self, task: Task) -> Future[Any]:
        """Return the future of `Judge.prepare` for a task. All jobs of the task share it, and its failure as well."""
        with self._guard:
            if task.fingerprint not in self._prepared:
                self._prepared[task.fingerprint] = self._preparing.submit(self._cases, task)
            return self._prepared[task.fingerprint]

    def _cases(self, task: Task) -> Any:
        """Prepare a task once there is room for its cases. `_end` of its last job gives the room back."""
        self._room.acquire()
        with self._guard:
            if not self._left[task.fingerprint]:  # in the meantime, all its answers have failed to compile
                self._room.release()
                raise CancelledError
            self._with_cases.add(task.fingerprint)
        return self._retried(lambda: self._judge.prepare(task))

    def _retried(self, step: Callable[[], T]) -> T:
        """Run a step, and try again if the judge itself fails.

        A try fails if `step` raises or returns an infra_error judgement. After the last try its value is returned, or
        its error raised.

        Raises:
            NoGpuLeft: No GPU works any more. There is no further try.
            OracleError: The task's oracle failed. There is no further try.
            CancelledError: The pipeline was stopped.
        """
        for tries_left in reversed(range(self._retries + 1)):
            if self._stop.is_set():
                break
            try:
                value = step()
                judgement = value.judgement if isinstance(value, Built) else value
                if not tries_left or not isinstance(judgement, Judgement) or not judgement.infra:
                    return value
                problem = judgement.message
            except Exception as error:
                # Another try would not help: a script of the task that hangs would hang again.
                if not tries_left or isinstance(error, NoGpuLeft | OracleError):
                    raise
                problem = describe(error)
            wait = FIRST_WAIT_S * 2 ** (self._retries - tries_left)
            logger.warning("the judge failed, next try in %g s: %s", wait, last_line(problem))
            self._stop.wait(wait)
        raise CancelledError

    def _end(self, job: Job, built: Built | None, judgement: Judgement) -> None:
        """Release what was kept for a job, and for its task if this was its last job. Then report the judgement."""
        try:
            if built is not None:
                self._judge.discard(built)
        except Exception as error:  # a verdict must not be lost because a folder cannot be removed
            logger.warning("task %s: %s", job.task.id, describe(error))
        with self._guard:
            self._left[job.task.fingerprint] -= 1
            if not self._left[job.task.fingerprint]:
                self._prepared.pop(job.task.fingerprint, None)
                if job.task.fingerprint in self._with_cases:
                    self._with_cases.remove(job.task.fingerprint)
                    self._room.release()
        self._ended.put((job, judgement))
