"""Judge one answer to a `ProgramTask`: compile it, run it on every case, compare what it wrote.

Three steps, so that a run over many answers can overlap them: `build` (CPUs), `prepare` (once a task), `execute`
(a GPU). `modules.ModuleJudge`, for KernelBench's kind of task, has the same three.
"""

import re
import time
from contextlib import ExitStack, nullcontext
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from ..sandbox import Compiled, Compiler, Isolation, Limits, Ran, SandboxError, Verdict, resolve_isolation, run_program
from ..tasks import Case, ProgramTask, ScriptOracle
from ..text import shorten
from .comparison import check_oracle, compare_outputs
from .devices import GpuPool, NoGpuLeft
from .judgement import JUDGE_VERSION, Built, CaseResult, Clock, Judge, Judgement, infra_error
from .oracle import CaseCache, OracleError, PreparedCase
from .oracle_runs import preparation_cost


_NO_CODE = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"', re.DOTALL)  # comments and texts


@dataclass
class ProgramJudge(Judge):
    """Judges programs.

    Args:
        compiler: Compiles, with its cache.
        cases: Prepares inputs and expected outputs, with its cache; None with compile_only.
        gpus: Where programs run, one at a time; None runs them without a GPU.
        limits: Of each run of a program.
        compile_only: The verdict of what compiles is `compiled`.
        confirms: Whether what fails beside other programs on its GPU is run once more alone, and that is what counts.
    """

    compiler: Compiler
    cases: CaseCache | None
    gpus: GpuPool | None = None
    limits: Limits = field(default_factory=Limits)
    isolation: Isolation = Isolation.AUTO
    compile_only: bool = False
    confirms: bool = True

    def settings(self) -> dict[str, Any]:
        """See `Judge.settings`.

        The header speaks for every line of a results file, so what it says of sandbox and GPU is part of this. How many
        programs share a GPU is not: no speed is measured here, and a verdict is not to depend on it.
        """
        settings = {
            "judge": JUDGE_VERSION,
            "toolkit": self.compiler.toolkit.version,
            "arch": self.compiler.arch,
            "flags": list(self.compiler.flags),
            "compile_limits": asdict(self.compiler.limits),
            "compile_only": self.compile_only,
            "isolation": str(resolve_isolation(self.isolation)),  # nvcc runs in it as well, and "auto" says nothing
        }
        if not self.compile_only:
            settings |= {"limits": asdict(self.limits), "gpus": self.gpus.names if self.gpus else []}
            settings["seed"] = self.cases.seed if self.cases else None
        return settings

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
            compiled = self.compile(task, code)
            if compiled.verdict and task.project and (problem := self._own_failure(task)):
                raise SandboxError(problem)
        except SandboxError as error:
            return Built(infra_error(str(error)))
        if not compiled.cached:
            clock.exclude(compiled.seconds)
        if not compiled.verdict and (missing := missing_names(task, code)):
            return Built(Judgement(Verdict.MISMATCH, message=missing, compiled=True, compile_s=compiled.seconds))
        judgement = Judgement(
            compiled.verdict or Verdict.COMPILED,
            message=shorten(compiled.message) if compiled.verdict else "",
            compiled=compiled.verdict is None,
            compile_s=compiled.seconds,
            compile_cached=compiled.cached,
            overhead_s=clock.own(),
        )
        return Built(judgement, None if self.compile_only else compiled.binary, compiled.held)

    def compile(self, task: ProgramTask, code: str) -> Compiled:
        """The program that an answer is, or with a project a part of."""
        if task.project is None:
            return self.compiler.compile(code)
        return self.compiler.compile(task.project.sources(code), task.project.options)

    def _own_failure(self, task: ProgramTask, case: Case | None = None) -> str:
        """Why the task's own solution fails as well, on a machine that lacks a library, say; "" when it does not, or there is none.

        case: run it, too; it is asked only about answers that failed.
        """
        if task.solution is None:
            return ""
        compiled = self.compile(task, task.solution)
        if compiled.verdict:
            return f"task {task.id}: its own solution does not compile here: {compiled.message}"
        if case is None:
            return ""
        result, message, _ = self._run(task, case, compiled.binary, Clock())
        return "" if result.verdict is Verdict.PASSED else f"task {task.id}: its own solution fails here: {message}"

    def preparation_cost(self, task: ProgramTask) -> float:
        return 0.0 if self.cases is None else preparation_cost(task)

    def prepare(self, task: ProgramTask) -> PreparedCase | None:
        """Make the task's cases. An only one is kept from being dropped until it is done with; of several none, as who holds one and
        waits for another's room would wait for ever."""
        made = None
        for case in task.cases:
            made = self.case(task, case)
        return made if len(task.cases) == 1 else None

    def execute(self, task: ProgramTask, built: Built, prepared: PreparedCase | None) -> Judgement:
        """Run the program on every case in order, up to the first that fails.

        The cases are taken from their cache once more: since `prepare`, it may have had to make room for others. What fails on a shared
        GPU is run once more with no other program on it.
        """
        clock = Clock()
        results: list[CaseResult] = []
        message, compare_s = "", 0.0
        for case in task.cases:
            try:
                result, message, seconds = self._run(task, case, built.product, clock)
                compare_s += seconds
                if result.verdict is not Verdict.PASSED and self.gpus and self.gpus.per_gpu > 1 and self.confirms:
                    result, message, seconds = self._run(task, case, built.product, clock, alone=True)
                    compare_s += seconds
                if result.verdict is not Verdict.PASSED and task.project:
                    with clock.excluded():
                        if problem := self._own_failure(task, case):
                            raise SandboxError(problem)
            except NoGpuLeft:
                raise
            except (OracleError, SandboxError) as error:
                result, message = CaseResult(case.name, Verdict.INFRA_ERROR, 0.0), str(error)
            results.append(result)
            if result.verdict is not Verdict.PASSED:
                break
        if isinstance(task.oracle, ScriptOracle):
            clock.exclude(compare_s)
        return replace(
            built.judgement,
            verdict=result.verdict,
            message=shorten(message),
            case=None if result.verdict is Verdict.PASSED else result.name,
            cases=tuple(results),
            run_s=sum(result.run_s for result in results),
            compare_s=compare_s,
            overhead_s=built.judgement.overhead_s + clock.own(),
        )

    def case(self, task: ProgramTask, case: Case) -> PreparedCase:
        """The data of one case, from the cache.

        Raises OracleError, also when compare.py refuses the reference: no answer is run then, whatever it would have done.
        """
        if self.cases is None:
            raise OracleError("a judge that runs programs needs a CaseCache")
        prepared = self.cases.prepare(task, case)
        check_oracle(task, prepared)
        return prepared

    def _run(
        self, task: ProgramTask, case: Case, binary: Path, clock: Clock, *, alone: bool = False
    ) -> tuple[CaseResult, str, float]:
        """The case's result, what is to say about it, and the seconds that comparing took.

        The GPU is given back before outputs are compared. Raises OracleError or SandboxError when the judge's side fails.
        """
        prepared = self.case(task, case)
        sizes = {tensor.file: prepared.sizes(tensor) for tensor in case.outputs}
        with ExitStack() as outputs:
            with clock.waiting(self.gpus.lease(alone=alone) if self.gpus else nullcontext()) as gpu:
                running = run_program(
                    binary,
                    inputs=prepared.inputs,
                    # of two sizes, the comparison settles which
                    outputs={name: known[0] if len(known) == 1 else None for name, known in sizes.items()},
                    limits=replace(self.limits, wall_s=max(self.limits.wall_s, task.time_limit or 0.0)),
                    gpu=gpu,
                    isolation=self.isolation,
                )
                ran = outputs.enter_context(running)
                clock.exclude(ran.finished.seconds)
                lost = (
                    gpu
                    and ran.verdict in (Verdict.TIMEOUT, Verdict.RUNTIME_ERROR)
                    and self.gpus.blame(gpu, ran.finished)
                )
                if problem := ran.finished.infra or lost:
                    raise SandboxError(problem)
            seconds = ran.finished.seconds
            if ran.verdict is not None:
                return CaseResult(case.name, ran.verdict, seconds), _explain(ran), 0.0
            begin = time.perf_counter()
            compared = compare_outputs(task, case, prepared, ran.outputs, isolation=self.isolation)
            verdict = Verdict.PASSED if compared.passed else Verdict.MISMATCH
            result = CaseResult(case.name, verdict, seconds, compared.max_abs_error, compared.max_rel_error)
            return result, "" if compared.passed else compared.message, time.perf_counter() - begin


def missing_names(task: ProgramTask, code: str) -> str:
    """Which names the task asks for and the code, without comments and texts, does not use; "" for none."""
    requires = task.project.requires if task.project else ()
    plain = _NO_CODE.sub(" ", code)
    for names in requires:
        if not any(re.search(rf"(?<!\w){re.escape(name)}(?!\w)", plain) for name in names):
            return f"does not use {' or '.join(names)}, which the task asks for"
    return ""


def _explain(ran: Ran) -> str:
    """What the sandbox says and the end of what the program printed."""
    printed = (ran.finished.stderr.strip() or ran.finished.stdout.strip())[-1000:]
    return f"{ran.message}\n{printed}" if printed and printed not in ran.message else ran.message
