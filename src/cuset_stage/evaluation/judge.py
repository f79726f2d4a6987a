"""Judge one answer to a `ProgramTask`: compile it, run it on every case, compare what it wrote.

Three steps, so that a run over many answers can overlap them: `build` (CPUs), `prepare` (once a task), `execute`
(a GPU). `modules.ModuleJudge`, for KernelBench's kind of task, has the same three.
"""

import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

from ..sandbox import Compiler, Gpu, Isolation, Limits, Ran, SandboxError, Verdict, run_program
from .comparison import compare_outputs
from .devices import GpuPool, NoGpuLeft, is_suspicious
from .oracle import CaseCache, OracleError, PreparedCase
from .tasks import Case, ProgramTask, ScriptOracle


JUDGE_VERSION = 1  # raised when verdicts come about differently: results of an earlier judge are then not taken up
MESSAGE_LENGTH = 2000


@dataclass(frozen=True)
class CaseResult:
    """One case of a task, as far as it came; the time in seconds."""

    name: str
    verdict: Verdict
    run_s: float
    max_abs_error: float | None = None
    max_rel_error: float | None = None


@dataclass(frozen=True)
class Judgement:
    """The verdict on one answer, and how it came about. Times in seconds.

    `overhead_s` is the judge's own time: wall time of `build` and `execute` without nvcc, the program, the script by
    which a CUDABench task compares (`compare_s`), and waiting for a GPU.
    """

    verdict: Verdict
    message: str = ""
    compiled: bool = False
    case: str | None = None
    cases: tuple[CaseResult, ...] = ()
    compile_s: float | None = None
    compile_cached: bool = False
    run_s: float | None = None
    compare_s: float | None = None
    overhead_s: float = 0.0
    speedup: float | None = None
    reference_s: float | None = None
    kernel_s: float | None = None
    flags: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        return self.verdict is Verdict.PASSED

    @property
    def infra(self) -> bool:
        """Whether the judge failed rather than the answer: worth another try, and never charged to the model."""
        return self.verdict is Verdict.INFRA_ERROR


@dataclass(frozen=True)
class Built:
    """What `build` hands on: the verdict where the answer's way ends with it, else what to execute."""

    judgement: Judgement
    product: Path | None = None
    """the program, or the folder with the module; None: the judgement is the last word"""


class Judge(Protocol):
    """How a run sees a judge. Every step may be called from several threads at a time."""

    compile_only: bool

    def settings(self) -> Mapping[str, Any]:
        """What a verdict depends on beside task and code: a result is taken up again only under equal settings."""

    def build(self, task: Any, code: str) -> Built: ...

    def prepare(self, task: Any) -> Any:
        """Raises OracleError or SandboxError when the judge's side fails."""

    def execute(self, task: Any, built: Built, prepared: Any) -> Judgement: ...

    def discard(self, built: Built) -> None:
        """Remove what `build` left beside its cache; called when the answer is judged."""

    def release(self, prepared: Any) -> None:
        """Remove what `prepare` left beside its cache; called when no answer to the task is left."""


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

    def own(self) -> float:
        return max(0.0, time.perf_counter() - self._begin - self._others)


def infra_error(message: str, before: Judgement | None = None) -> Judgement:
    """The judge's side failed; what is known of the answer so far is kept."""
    known = before or Judgement(Verdict.INFRA_ERROR)
    return replace(known, verdict=Verdict.INFRA_ERROR, message=shorten(message))


def shorten(message: str) -> str:
    """A message of at most MESSAGE_LENGTH characters, its head and its tail."""
    message = message.strip()
    if len(message) <= MESSAGE_LENGTH:
        return message
    half = MESSAGE_LENGTH // 2 - 8
    return f"{message[:half]}\n[...]\n{message[-half:]}"


@dataclass
class ProgramJudge:
    """Judges programs.

    Args:
        compiler: Compiles, with its cache.
        cases: Prepares inputs and expected outputs, with its cache; None with compile_only.
        gpus: Where programs run, one at a time; None runs them without a GPU.
        limits: Of each run of a program.
        compile_only: The verdict of what compiles is `compiled`.
    """

    compiler: Compiler
    cases: CaseCache | None
    gpus: GpuPool | None = None
    limits: Limits = field(default_factory=Limits)
    isolation: Isolation = Isolation.AUTO
    compile_only: bool = False
    _locks: dict[int, threading.Lock] = field(default_factory=dict, init=False, repr=False)
    _guard: threading.Lock = field(default_factory=threading.Lock, init=False, repr=False)

    def settings(self) -> dict[str, Any]:
        return {
            "judge": JUDGE_VERSION,
            "toolkit": self.compiler.toolkit.version,
            "arch": self.compiler.arch,
            "flags": list(self.compiler.flags),
            "compile_limits": asdict(self.compiler.limits),
            "compile_only": self.compile_only,
            **({} if self.compile_only else {"limits": asdict(self.limits), "gpu": self.gpus is not None}),
        }

    def judge(self, task: ProgramTask, code: str) -> Judgement:
        """All three steps, one after the other."""
        built = self.build(task, code)
        if built.product is None:
            return built.judgement
        try:
            prepared = self.prepare(task)
        except (OracleError, SandboxError) as error:
            return infra_error(str(error), built.judgement)
        return self.execute(task, built, prepared)

    def build(self, task: ProgramTask, code: str) -> Built:
        clock = Clock()
        try:
            with self._alone(code, clock):
                compiled = self.compiler.compile(code)
        except SandboxError as error:
            return Built(infra_error(str(error)))
        if not compiled.cached:
            clock.exclude(compiled.seconds)
        verdict = compiled.verdict or Verdict.COMPILED
        judgement = Judgement(
            verdict,
            message=shorten(compiled.message) if compiled.verdict else "",
            compiled=compiled.verdict is None,
            compile_s=compiled.seconds,
            compile_cached=compiled.cached,
            overhead_s=clock.own(),
        )
        return Built(judgement, None if self.compile_only else compiled.binary)

    def prepare(self, task: ProgramTask) -> list[PreparedCase]:
        return [self._case(task, case) for case in task.cases]

    def execute(self, task: ProgramTask, built: Built, prepared: Sequence[PreparedCase]) -> Judgement:
        """Run the program on every case in order, up to the first that fails.

        The cases are taken from their cache once more: since `prepare`, it may have had to make room for others.
        """
        clock = Clock()
        results: list[CaseResult] = []
        message = ""
        compare_s = 0.0
        for case in task.cases:
            try:
                ready = self._case(task, case)
                result, message, seconds = self._run_case(task, case, ready, built.product, clock)
            except NoGpuLeft:
                raise
            except (OracleError, SandboxError) as error:
                result, message, seconds = CaseResult(case.name, Verdict.INFRA_ERROR, 0.0), str(error), 0.0
            results.append(result)
            compare_s += seconds
            if isinstance(task.oracle, ScriptOracle):
                clock.exclude(seconds)
            if result.verdict is not Verdict.PASSED:
                break
        return replace(
            built.judgement,
            verdict=results[-1].verdict,
            message=shorten(message),
            case=None if results[-1].verdict is Verdict.PASSED else results[-1].name,
            cases=tuple(results),
            run_s=sum(result.run_s for result in results),
            compare_s=compare_s,
            overhead_s=built.judgement.overhead_s + clock.own(),
        )

    def discard(self, built: Built) -> None:
        """Nothing: programs lie in the compiler's cache."""

    def release(self, prepared: Sequence[PreparedCase]) -> None:
        """Nothing: cases lie in their cache."""

    def _run_case(
        self, task: ProgramTask, case: Case, ready: PreparedCase, binary: Path, clock: Clock
    ) -> tuple[CaseResult, str, float]:
        """The case's result, what is to say about it, and the seconds that comparing took."""
        with ExitStack() as stack:
            with self._leased(clock) as gpu:  # given back before the comparison: another program may run meanwhile
                ran = stack.enter_context(
                    run_program(
                        binary,
                        inputs=ready.inputs,
                        outputs=_output_sizes(case, ready),
                        limits=self.limits,
                        gpu=gpu,
                        isolation=self.isolation,
                    )
                )
                seconds = ran.finished.seconds
                clock.exclude(seconds)
                if ran.finished.infra:
                    raise SandboxError(ran.finished.infra)
                if ran.verdict is not None:
                    lost = self._lost(ran, gpu)
                    if lost:
                        raise SandboxError(lost)
                    return CaseResult(case.name, ran.verdict, seconds), _explain(ran), 0.0
            begin = time.perf_counter()
            compared = compare_outputs(task, case, ready, ran.outputs, isolation=self.isolation)
            verdict = Verdict.PASSED if compared.passed else Verdict.MISMATCH
            result = CaseResult(case.name, verdict, seconds, compared.max_abs_error, compared.max_rel_error)
            return result, "" if compared.passed else compared.message, time.perf_counter() - begin

    def _case(self, task: ProgramTask, case: Case) -> PreparedCase:
        if self.cases is None:
            raise OracleError("a judge that runs programs needs a CaseCache")
        return self.cases.prepare(task, case)

    @contextmanager
    def _alone(self, code: str, clock: Clock) -> Iterator[None]:
        """One thread at a time for one source: the others wait for its program, which is no time of the judge's own."""
        with self._guard:
            lock = self._locks.setdefault(hash(code), threading.Lock())
        with clock.excluded():
            lock.acquire()
        try:
            yield
        finally:
            lock.release()

    @contextmanager
    def _leased(self, clock: Clock) -> Iterator[Gpu | None]:
        if self.gpus is None:
            yield None
            return
        with ExitStack() as stack:
            with clock.excluded():
                gpu = stack.enter_context(self.gpus.lease())
            yield gpu

    def _lost(self, ran: Ran, gpu: Gpu | None) -> str | None:
        """What is wrong with the GPU, when a failed run gives reason to look and there is something."""
        if gpu is None or self.gpus is None or ran.verdict in (Verdict.MISSING_OUTPUT, Verdict.MISMATCH):
            return None
        text = ran.finished.stdout + ran.finished.stderr
        if ran.verdict is Verdict.TIMEOUT or is_suspicious(text):
            return self.gpus.is_lost(gpu)
        return None


def _output_sizes(case: Case, ready: PreparedCase) -> dict[str, int | None]:
    """Path of each output -> its bytes; None where two sizes may be right, which the comparison then settles."""
    found: dict[str, int | None] = {}
    for tensor in case.outputs:
        sizes = ready.sizes(tensor.file)
        found[tensor.file] = sizes[0] if len(sizes) == 1 else None
    return found


def _explain(ran: Ran) -> str:
    """What the sandbox says and the end of what the program printed."""
    printed = (ran.finished.stderr.strip() or ran.finished.stdout.strip())[-MESSAGE_LENGTH // 2 :]
    return f"{ran.message}\n{printed}" if printed and printed not in ran.message else ran.message
