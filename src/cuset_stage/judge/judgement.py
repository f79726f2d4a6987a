"""The verdict on one answer, and the interface of a judge: the three steps build, prepare and execute, and a clock."""

import math
import time
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Protocol, TypeVar

from pydantic import Field, PlainSerializer

from ..row_checks import Count, Seconds, Text, Truth
from ..sandbox import SandboxError, Verdict, resolve_isolation
from ..text import shorten
from .oracle import OracleError


JUDGE_VERSION = 7  # raised when the way to a verdict changes, so that results of an earlier judge are not reused
T = TypeVar("T")

# These types check the lines of a results file and say how they are written. Seconds are rounded to the microsecond,
# and an infinite error becomes null, since JSON has no infinity.
Named = Annotated[Verdict, Field(description=f"one of {', '.join(Verdict)}")]
Measured = Annotated[Seconds, PlainSerializer(lambda value: round(value, 6))]
Error = Annotated[  # no bound: right answers to inputs of 1e30 differ by more than 2**53
    float,
    Field(strict=True, allow_inf_nan=False, description="a number up to float64's largest"),
    PlainSerializer(lambda value: value if math.isfinite(value) else None),
]


@dataclass(frozen=True)
class GpuUse:
    """What a run of a program did on the GPU, as far as it was recorded.

    Attributes:
        kernel_s: Seconds in which kernels ran, or copies and fills within the GPU's memory.
        launches: Number of kernel launches.
        bytes_to_gpu: Bytes copied from the host.
        bytes_from_gpu: Bytes copied to the host.
    """

    kernel_s: Seconds
    launches: Count
    bytes_to_gpu: Count
    bytes_from_gpu: Count


@dataclass(frozen=True)
class KernelUse:
    """A kernel over all runs of a sample.

    Attributes:
        name: Its mangled name.
        launches: Number of launches.
        seconds: Total time of the launches.
        grid: Blocks in x, y and z of its longest launch.
        block: Threads of a block in x, y and z of its longest launch.
    """

    name: Text
    launches: Count
    seconds: Seconds
    grid: tuple[int, ...]
    block: tuple[int, ...]


@dataclass(frozen=True)
class CaseResult:
    """The result of one case of a task.

    Attributes:
        run_s: Seconds that the run took.
        max_abs_error: Largest absolute error, None where nothing could be compared.
        max_rel_error: Largest relative error, None where nothing could be compared.
        gpu: What the run did on the GPU, None where nothing was recorded.
    """

    name: Text
    verdict: Named
    run_s: Measured
    max_abs_error: Error | None = None
    max_rel_error: Error | None = None
    gpu: GpuUse | None = None


@dataclass(frozen=True)
class Judgement:
    """The verdict on one answer and how it came about, as a line of a results file states it. Times are in seconds.

    Attributes:
        message: Explanation for the user.
        case: Name of the case that did not pass, None if there is none.
        cases: The results of the cases that were run.
        compile_s: Time of the compilation, also when it was taken from the cache.
        compile_cached: Whether the compiled program came from the cache.
        run_s: Time of all runs.
        compare_s: Time of comparing outputs.
        overhead_s: The judge's own time. This is the wall time of `build` and `execute` without nvcc, the program
            (from when its sandbox hands over to it until it has ended), the script by which a CUDABench task compares
            (`compare_s`), and waiting for a GPU.
        speedup: `reference_s` divided by `kernel_s`.
        reference_s: The same as `kernel_s` for the task's own program or module.
        kernel_s: Of a program, the sum of `GpuUse.kernel_s` over all cases. Of a module, the time of a call.
        flags: What is remarkable about the answer, such as work that the GPU did not do.
    """

    verdict: Named
    message: Text = ""
    compiled: Truth = False
    case: Text | None = None
    cases: Annotated[
        tuple[CaseResult, ...], Field(description="a list of objects with name, verdict and numbers")
    ] = ()
    compile_s: Measured | None = None
    compile_cached: Truth = False
    run_s: Measured | None = None
    compare_s: Measured | None = None
    overhead_s: Measured = 0.0
    speedup: Seconds | None = None
    reference_s: Seconds | None = None
    kernel_s: Seconds | None = None
    kernels: tuple[KernelUse, ...] = ()
    flags: Annotated[tuple[Text, ...], Field(description="a list of texts")] = ()

    @property
    def passed(self) -> bool:
        return self.verdict is Verdict.PASSED

    @property
    def infra(self) -> bool:
        """Whether the judge failed rather than the answer: worth another try, and never charged to the model."""
        return self.verdict is Verdict.INFRA_ERROR


@dataclass(frozen=True)
class Built:
    """What `build` passes on to `execute`.

    Attributes:
        judgement: The judgement so far.
        product: The program, or the folder with the module. None if the judgement is final.
        held: An object that keeps the product in place as long as it lives.
        code: The code that the product was built from, for a judge that builds other forms of it.
    """

    judgement: Judgement
    product: Path | None = None
    held: Any = None
    code: str = ""


class Judge(Protocol):
    """The steps of judging an answer. Each may be called from several threads at a time.

    `settings` returns everything besides task and code that a verdict depends on. A result is reused only under equal
    settings.

    `prepare` is called once for each task and raises when the judge's side fails. `preparation_cost` is its cost in
    any unit, and decides which tasks are begun first. A cost of 0 means that preparation waits until an answer is
    built.

    `discard` removes what `build` left outside its cache. A judge that derives from this class and leaves nothing need
    not define it.
    """

    def settings(self) -> Mapping[str, Any]: ...
    def build(self, task: Any, code: str) -> Built: ...
    def preparation_cost(self, task: Any) -> float:
        return 0.0

    def prepare(self, task: Any) -> Any: ...
    def execute(self, task: Any, built: Built, prepared: Any) -> Judgement: ...
    def discard(self, built: Built) -> None: ...

    def judge(self, task: Any, code: str) -> Judgement:
        """Run all three steps one after the other and return the judgement."""
        built = self.build(task, code)
        try:
            return built.judgement if built.product is None else self.execute(task, built, self.prepare(task))
        except (OracleError, SandboxError) as error:
            return infra_error(str(error), built.judgement)
        finally:
            self.discard(built)


class Clock:
    """Measures the judge's own time: wall time since the clock was made, less what is excluded."""

    def __init__(self) -> None:
        self._begin = time.perf_counter()
        self._others = 0.0

    def exclude(self, seconds: float) -> None:
        """Exclude this many seconds from the judge's own time."""
        self._others += seconds

    @contextmanager
    def excluded(self) -> Iterator[None]:
        """Exclude the time of the block from the judge's own time."""
        begin = time.perf_counter()
        try:
            yield
        finally:
            self._others += time.perf_counter() - begin

    @contextmanager
    def waiting(self, turn: AbstractContextManager[T]) -> Iterator[T]:
        """Enter `turn`, such as a lock or a lease. Waiting for it is excluded from the judge's own time."""
        with ExitStack() as stack:
            with self.excluded():
                entered = stack.enter_context(turn)
            yield entered

    def own(self) -> float:
        """Return the judge's own time so far, in seconds."""
        return max(0.0, time.perf_counter() - self._begin - self._others)


def shared_settings(judge: Any) -> dict[str, Any]:
    """Return the part of `Judge.settings` that programs and modules have in common."""
    shared = {
        "judge": JUDGE_VERSION,
        "compile_only": judge.compile_only,
        "isolation": str(resolve_isolation(judge.isolation)),  # nvcc runs in it, too; "auto" would name no sandbox
    }
    if judge.compile_only:
        return shared
    gpus = judge.gpus.names if judge.gpus else []
    return {**shared, "limits": asdict(judge.limits), "gpus": gpus, "recorded": judge.recorder is not None}


def infra_error(message: str, before: Judgement | None = None) -> Judgement:
    """Return the judgement for a failure of the judge's side. Its other fields are those of `before`."""
    judgement = before or Judgement(Verdict.INFRA_ERROR)
    return replace(judgement, verdict=Verdict.INFRA_ERROR, message=shorten(message))
