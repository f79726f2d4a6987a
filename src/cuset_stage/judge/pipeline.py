"""Judge many answers at a time on this machine: compile on the CPUs while programs run on the GPUs.

Building answers, preparing the cases of tasks and running programs each have their threads. The cases of a task are prepared once: where
that takes long, beside the first answer's compilation; else as soon as it compiles.
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
    """One program to judge. samples: whatever the caller judges it for."""

    task: Task
    code: str
    samples: tuple[Any, ...] = ()


def describe(error: BaseException) -> str:
    """The judge's own errors speak for themselves; of others the type is the better half."""
    if isinstance(error, OracleError | SandboxError | NoGpuLeft):
        return str(error)
    return f"{type(error).__name__}: {error}"


class Pipeline:
    """Judges jobs with threads.

    Args:
        jobs: Compilations at a time, and as many preparations of tasks.
        runs: Programs at a time; the GPU pool lets in as many as there are GPUs.
        retries: Further tries when the judge's side fails, after 1, 2, 4, ... seconds.
    """

    def __init__(self, judge: Judge, *, jobs: int, runs: int, retries: int = 2) -> None:
        self._judge = judge
        self._retries = retries
        self._stop = threading.Event()
        self._building = ThreadPoolExecutor(jobs, thread_name_prefix="build")
        self._preparing = ThreadPoolExecutor(jobs, thread_name_prefix="prepare")
        self._running = ThreadPoolExecutor(runs, thread_name_prefix="run")
        # Jobs under way: enough to go on compiling while one program has the GPU to itself, for up to a minute.
        self._most = 8 * (jobs + runs)
        # Tasks that have their cases: fewer, as these take space on the disk.
        self._room = threading.Semaphore(2 * (jobs + runs))
        self._with_cases: set[str] = set()
        self._ended: SimpleQueue[tuple[Job, Judgement]] = SimpleQueue()
        self._prepared: dict[str, Future[Any]] = {}
        self._left: Counter[str] = Counter()
        self._guard = threading.Lock()

    def run(self, jobs: Sequence[Job]) -> Iterator[tuple[Job, Judgement]]:
        """Judgements in the order in which they come; closing the iterator stops what has not begun.

        The longest task, the quickest, the second longest, ...: nothing long is left to the end, GPUs need not wait for it, and not all of
        the largest data are in memory at a time. Jobs of one task stay together, so that its cases are made, used and done with.
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
        """Start nothing more; what is running ends in its own time."""
        self._stop.set()
        self._room.release(self._most)  # nobody waits for it any more
        for threads in (self._building, self._preparing):
            threads.shutdown(wait=False, cancel_futures=True)

    def join(self) -> None:
        """Wait for what is running, after `stop`."""
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
            judgement = infra_error(describe(error))
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
        """What all answers to the task are judged with; made once, or failed for all."""
        with self._guard:
            ready = self._prepared.get(task.fingerprint)
            if ready is None:
                ready = self._preparing.submit(self._cases, task)
                self._prepared[task.fingerprint] = ready
            return ready

    def _cases(self, task: Task) -> Any:
        """Prepare the task once there is room for its cases; `_end` of its last job gives the room back."""
        self._room.acquire()
        with self._guard:
            if not self._left[task.fingerprint]:  # all its answers failed to compile meanwhile
                self._room.release()
                raise CancelledError
            self._with_cases.add(task.fingerprint)
        return self._retried(lambda: self._judge.prepare(task))

    def _retried(self, step: Callable[[], T]) -> T:
        """What `step` returned at the first try at which it neither raised nor made a judgement that is the judge's failure.

        After the last try its value is returned, or its error raised.
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
                # a script that hangs would do so again
                if not tries_left or isinstance(error, NoGpuLeft | OracleError):
                    raise
                problem = describe(error)
            wait = FIRST_WAIT_S * 2 ** (self._retries - tries_left)
            logger.warning("the judge failed, next try in %g s: %s", wait, last_line(problem))
            self._stop.wait(wait)
        raise CancelledError

    def _end(self, job: Job, built: Built | None, judgement: Judgement) -> None:
        """Let go of what was kept for this answer, and for its task when this was the last one."""
        try:
            if built is not None:
                self._judge.discard(built)
        except Exception as error:  # a verdict is not lost because a folder cannot be removed
            logger.warning("task %s: %s", job.task.id, describe(error))
        with self._guard:
            self._left[job.task.fingerprint] -= 1
            if not self._left[job.task.fingerprint]:
                self._prepared.pop(job.task.fingerprint, None)
                if job.task.fingerprint in self._with_cases:
                    self._with_cases.remove(job.task.fingerprint)
                    self._room.release()
        self._ended.put((job, judgement))
