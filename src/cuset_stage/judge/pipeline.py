"""Judge many answers at a time on this machine: compile on the CPUs while programs run on the GPUs.

An answer flows from a thread that builds it to one that executes it. The cases of a task are prepared once, as soon as
the first answer to it compiles, while other answers are built.
"""

import logging
import queue
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, TypeVar

from ..sandbox import SandboxError
from ..tasks import Task
from ..tasks.answers_file import Answer
from .devices import NoGpuLeft
from .judgement import Built, Judge, Judgement, infra_error
from .oracle_runs import OracleError


logger = logging.getLogger(__name__)
T = TypeVar("T")
FIRST_WAIT_S = 1.0


@dataclass(frozen=True)
class Job:
    """One program to judge, for all answers to a task that hold exactly this code."""

    task: Task
    code: str
    code_sha256: str
    answers: tuple[Answer, ...]


def describe(error: BaseException) -> str:
    """The judge's own errors speak for themselves; of others the type is the better half."""
    if isinstance(error, OracleError | SandboxError):
        return str(error)
    return f"{type(error).__name__}: {error}"


class Pipeline:
    """Judges jobs with threads.

    Args:
        judges: language -> the judge for tasks of that language.
        jobs: Compilations at a time.
        runs: Programs at a time; the GPU pool lets in as many as there are GPUs.
        retries: Further tries when the judge's side fails, after 1, 2, 4, ... seconds.
    """

    def __init__(self, judges: Mapping[str, Judge], *, jobs: int, runs: int, retries: int = 2) -> None:
        self._judges = judges
        self._retries = retries
        self._stop = threading.Event()
        self._builds = ThreadPoolExecutor(jobs, thread_name_prefix="build")
        self._preparations = ThreadPoolExecutor(max(1, jobs // 2), thread_name_prefix="prepare")
        self._runs = ThreadPoolExecutor(runs, thread_name_prefix="run")
        self._prepared: dict[str, Future[Any]] = {}
        self._left: Counter[str] = Counter()
        self._guard = threading.Lock()

    def run(self, jobs: Sequence[Job]) -> Iterator[tuple[Job, Judgement]]:
        """Judgements in the order in which they come; closing the iterator stops what has not begun."""
        done: queue.SimpleQueue[tuple[Job, Judgement]] = queue.SimpleQueue()
        try:
            for job in jobs:
                self.submit(job, lambda judgement, job=job: done.put((job, judgement)))
            for _ in jobs:
                yield done.get()
        finally:
            self.stop()

    def submit(self, job: Job, done: Callable[[Judgement], None]) -> None:
        """Judge a job and call `done` from one of the threads; never after `stop`, for what had not begun then."""
        with self._guard:
            self._left[job.task.fingerprint] += 1
        self._builds.submit(self._build, job, done)

    def stop(self) -> None:
        """Start nothing more; what is running ends in its own time."""
        self._stop.set()
        for pool in (self._builds, self._preparations, self._runs):
            pool.shutdown(wait=False, cancel_futures=True)

    def join(self) -> None:
        """Wait for what is running."""
        for pool in (self._builds, self._preparations, self._runs):
            pool.shutdown(wait=True, cancel_futures=True)

    def _build(self, job: Job, done: Callable[[Judgement], None]) -> None:
        built = None
        try:
            judge = self._judges[job.task.language]
            built = self._retried(lambda: judge.build(job.task, job.code), lambda found: found.judgement)
            if built.product is None:
                self._finish(job, built, built.judgement, done)
            else:
                self._preparation(job.task).add_done_callback(lambda ready: self._enqueue(job, built, ready, done))
        except BaseException as error:  # a thread must not end in silence: the run would wait for it forever
            self._finish(job, built, _failure(error, built), done)

    def _preparation(self, task: Task) -> Future[Any]:
        with self._guard:
            if task.fingerprint not in self._prepared:
                judge = self._judges[task.language]
                self._prepared[task.fingerprint] = self._preparations.submit(
                    self._retried, lambda: judge.prepare(task)
                )
            return self._prepared[task.fingerprint]

    def _enqueue(self, job: Job, built: Built, ready: Future[Any], done: Callable[[Judgement], None]) -> None:
        try:
            self._runs.submit(self._execute, job, built, ready.result(), done)
        except (Exception, CancelledError) as error:  # of the preparation, or of a pool that was stopped
            self._finish(job, built, _failure(error, built), done)

    def _execute(self, job: Job, built: Built, prepared: Any, done: Callable[[Judgement], None]) -> None:
        try:
            judge = self._judges[job.task.language]
            judgement = self._retried(lambda: judge.execute(job.task, built, prepared), lambda found: found)
        except BaseException as error:
            judgement = _failure(error, built)
        self._finish(job, built, judgement, done)

    def _retried(self, step: Callable[[], T], judgement: Callable[[T], Judgement] | None = None) -> T:
        """What `step` returned at the first try at which it neither raised nor made a judgement that is the judge's failure.

        After the last try its value is returned, or its error raised.
        """
        for attempt in range(self._retries + 1):
            try:
                value = step()
            except Exception as error:
                if isinstance(error, NoGpuLeft) or self._gives_up(attempt, describe(error)):
                    raise
            else:
                found = judgement(value) if judgement else None
                if found is None or not found.infra or self._gives_up(attempt, found.message):
                    return value
        raise AssertionError("the last try returns or raises")

    def _gives_up(self, attempt: int, problem: str) -> bool:
        """After a failure: whether there is no further try; else waits for it."""
        if attempt == self._retries or self._stop.is_set():
            return True
        wait = FIRST_WAIT_S * 2**attempt
        logger.warning("the judge failed, next try in %g s: %s", wait, problem.strip().rpartition("\n")[2])
        return self._stop.wait(wait)

    def _finish(self, job: Job, built: Built | None, judgement: Judgement, done: Callable[[Judgement], None]) -> None:
        try:
            self._tidy(job, built)
        except Exception as error:  # a verdict is not lost because a folder cannot be removed
            logger.warning("task %s: %s", job.task.id, describe(error))
        if not self._stop.is_set():
            done(judgement)

    def _tidy(self, job: Job, built: Built | None) -> None:
        """Remove what was kept for this answer, and for its task when this was the last one."""
        judge = self._judges[job.task.language]
        if built is not None:
            judge.discard(built)
        with self._guard:
            self._left[job.task.fingerprint] -= 1
            last = self._left[job.task.fingerprint] == 0
            ready = self._prepared.pop(job.task.fingerprint, None) if last else None
        if ready is not None and ready.done() and not ready.cancelled() and ready.exception() is None:
            judge.release(ready.result())


def _failure(error: BaseException, built: Built | None) -> Judgement:
    return infra_error(describe(error), built.judgement if built is not None else None)
