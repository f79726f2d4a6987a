"""The verdict on one answer, and what a run needs of whoever gives it: three steps and a clock."""

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


JUDGE_VERSION = 7  # raised when verdicts come about differently: results of an earlier judge are then not reused
T = TypeVar("T")

# What lines of a results file are checked by and how they are written: to the microsecond, and without infinity, which JSON lacks.
Named = Annotated[Verdict, Field(description=f"one of {', '.join(Verdict)}")]
Measured = Annotated[Seconds, PlainSerializer(lambda value: round(value, 6))]
Error = Annotated[  # right answers to inputs of 1e30 differ by more than 2**53
    float,
    Field(strict=True, allow_inf_nan=False, description="a number up to float64's largest"),
    PlainSerializer(lambda value: value if math.isfinite(value) else None),
]


@dataclass(frozen=True)
class GpuUse:
    """What a run of a program did on the GPU, as far as it was recorded. kernel_s: seconds in which kernels, or copies and fills within
    the GPU's memory, ran. bytes_to_gpu, bytes_from_gpu: in copies from and to the host."""

    kernel_s: Seconds
    launches: Count
    bytes_to_gpu: Count
    bytes_from_gpu: Count


@dataclass(frozen=True)
class KernelUse:
    """A kernel over all runs of a sample; grid and block of its longest launch."""

    name: Text
    launches: Count
    seconds: Seconds
    grid: tuple[int, ...]
    block: tuple[int, ...]


@dataclass(frozen=True)
class CaseResult:
    """One case of a task, as far as it came; the time in seconds. gpu: None where nothing was recorded."""

    name: Text
    verdict: Named
    run_s: Measured
    max_abs_error: Error | None = None
    max_rel_error: Error | None = None
    gpu: GpuUse | None = None


@dataclass(frozen=True)
class Judgement:
    """The verdict on one answer, and how it came about: what a line of a results file says of it. Times in seconds.

    `overhead_s` is the judge's own time: wall time of `build` and `execute` without nvcc, the program (from when its sandbox
    hands over to it until it has ended), the script by which a CUDABench task compares (`compare_s`), and waiting for a GPU.

    kernel_s, reference_s: of a program, what `GpuUse.kernel_s` is over all cases, of the answer and of the task's own program; of a module,
    a call. speedup: their quotient.
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
        """True if the judge failed rather than the answer: worth another try, and never charged to the model."""
        return self.verdict is Verdict.INFRA_ERROR


@dataclass(frozen=True)
class Built:
    """What `build` hands on. product: the program, or the folder with the module; None: the judgement is the last word. held: what
    keeps the product where it is. code: what it was built from, for a judge that builds other forms of it."""

    judgement: Judgement
    product: Path | None = None
    held: Any = None
    code: str = ""


class Judge(Protocol):
    """The steps of judging an answer. Each may be called from several threads at a time.

    `settings` is what a verdict depends on beside task and code: a result is reused only under equal settings. `prepare` is called
    once a task and raises when the judge's side fails; what its `preparation_cost` is, in any unit, says which tasks are begun first, and
    0 that it waits for an answer that was built. `discard` removes what `build` left beside its cache; a judge that derives
    from this class and leaves nothing needs none.
    """

    def settings(self) -> Mapping[str, Any]: ...
    def build(self, task: Any, code: str) -> Built: ...
    def preparation_cost(self, task: Any) -> float:
        return 0.0

    def prepare(self, task: Any) -> Any: ...
    def execute(self, task: Any, built: Built, prepared: Any) -> Judgement: ...
    def discard(self, built: Built) -> None: ...

    def judge(self, task: Any, code: str) -> Judgement:
        """All three steps, one after the other."""
        built = self.build(task, code)
        try:
            return built.judgement if built.product is None else self.execute(task, built, self.prepare(task))
        except (OracleError, SandboxError) as error:
            return infra_error(str(error), built.judgement)
        finally:
            self.discard(built)


class Clock:
    """Wall time since it was made, and the part of it that is not the judge's own."""

    def __init__(self) -> None:
        self._begin = time.perf_counter()
        self._others = 0.0

    def exclude(self, seconds: float) -> None:
        self._others += seconds

    @contextmanager
    def excluded(self) -> Iterator[None]:
        begin = time.perf_counter()
        try:
            yield
        finally:
            self._others += time.perf_counter() - begin

    @contextmanager
    def waiting(self, turn: AbstractContextManager[T]) -> Iterator[T]:
        """Within `turn`, such as a lock or a lease; waiting for it is not the judge's own time."""
        with ExitStack() as stack:
            with self.excluded():
                entered = stack.enter_context(turn)
            yield entered

    def own(self) -> float:
        return max(0.0, time.perf_counter() - self._begin - self._others)


def shared_settings(judge: Any) -> dict[str, Any]:
    """The part of `Judge.settings` that is the same for programs and for modules."""
    shared = {
        "judge": JUDGE_VERSION,
        "compile_only": judge.compile_only,
        "isolation": str(resolve_isolation(judge.isolation)),  # nvcc runs in it as well, and "auto" says nothing
    }
    if judge.compile_only:
        return shared
    gpus = judge.gpus.names if judge.gpus else []
    return {**shared, "limits": asdict(judge.limits), "gpus": gpus, "recorded": judge.recorder is not None}


def infra_error(message: str, before: Judgement | None = None) -> Judgement:
    """The judge's side failed; what is known of the answer so far is kept."""
    known = before or Judgement(Verdict.INFRA_ERROR)
    return replace(known, verdict=Verdict.INFRA_ERROR, message=shorten(message))
