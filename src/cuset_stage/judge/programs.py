"""Judge an answer to a `ProgramTask`: compile it, run it on every case, and compare the outputs that it wrote.

There are three steps, so that a run over many answers can overlap them: `build` (on the CPUs), `prepare` (once per
task) and `execute` (on a GPU). `modules.ModuleJudge`, for tasks like those of KernelBench, has the same steps.
"""

import re
import threading
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import Any

from ..sandbox import Compiled, SandboxError, Verdict
from ..spans.scrub import scrub
from ..tasks import Case, ProgramTask, ScriptOracle
from ..text import shorten
from . import gpu_work
from .case_runs import CaseRun, CaseRunner, Program
from .gpu_work import INVENTED, NO_GPU_WORK, NOTHING_RAN, TENSOR, UNRECORDED, Timed
from .judgement import Built, CaseResult, Clock, Judge, Judgement, infra_error, shared_settings
from .oracle import OracleError, PreparedCase
from .thorough import Examiner, Sanitizer


@dataclass
class ProgramJudge(CaseRunner, Judge):
    """Judges programs. The arguments of `CaseRunner` apply as well.

    Args:
        compile_only: If true, programs are not run. Those that compile get the verdict `compiled`.
        require_gpu: If true, programs that are flagged because the GPU did not do the work get the verdict
            `no_gpu_work`.
        sanitizer: If given, programs that pass are examined again with it (thorough.py).
    """

    compile_only: bool = False
    require_gpu: bool = False
    sanitizer: Sanitizer | None = None
    _references: dict[str, Timed | None] = field(default_factory=dict, init=False, repr=False)
    _measuring: threading.Lock = field(default_factory=threading.Lock, init=False, repr=False)

    @cached_property
    def _examiner(self) -> Examiner:
        return Examiner(replace(self, sanitizer=None, recorder=None, require_gpu=False), self.sanitizer)

    def settings(self) -> dict[str, Any]:
        """Return the settings that a verdict depends on. See `Judge.settings`.

        The header of a results file describes every line of the file. So the sandbox and the GPU, which the header
        names, are part of the settings. The number of programs that share a GPU is not: no speed is measured then, and
        a verdict must not depend on it.
        """
        settings = {
            **shared_settings(self),
            "toolkit": self.compiler.toolkit.version,
            "arch": self.compiler.arch,
            "flags": list(self.compiler.flags),
            "compile_limits": asdict(self.compiler.limits),
        }
        if not self.compile_only:
            settings |= {"thorough": self.sanitizer is not None, "require_gpu": self.require_gpu}
            settings["seed"] = self.cases.seed if self.cases else None
            if not self.confirms:
                settings["confirm_alone"] = False
        return settings

    def build(self, task: ProgramTask, code: str) -> Built:
        """Compile the answer. The judgement is final if it does not compile or does not use the required names.

        If an answer in a project does not compile, the task's own solution is compiled as well. If that fails, too,
        the machine is the cause, and the verdict is `infra_error`.
        """
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
        return Built(judgement, None if self.compile_only else compiled.binary, compiled.held, code)

    def compile(self, task: ProgramTask, code: str) -> Compiled:
        """Compile an answer: a whole program, or one file of the task's project together with the others."""
        if task.project is None:
            return self.compiler.compile(code)
        files = {task.project.answer: code, **task.project.files}  # the answer cannot replace another file
        return self.compiler.compile(files, task.project.options)

    def _own_failure(self, task: ProgramTask, case: Case | None = None) -> str:
        """Return why the task's own solution fails on this machine as well, for example because a library is missing.

        It is called only after an answer has failed. If a case is given, the solution is also run on it.

        Returns:
            The message, or "" if the solution does not fail or the task has none.
        """
        if task.solution is None:
            return ""
        compiled = self.compile(task, task.solution)
        if compiled.verdict:
            return f"task {task.id}: its own solution does not compile here: {compiled.message}"
        if case is None:
            return ""
        run = self.run(Program(task, compiled.binary), case)
        return "" if run.passed else f"task {task.id}: its own solution fails here: {run.message}"

    def preparation_cost(self, task: ProgramTask) -> float:
        return 0.0 if self.cases is None else self.cases.preparation_cost(task)

    def prepare(self, task: ProgramTask) -> list[PreparedCase]:
        """Make the cases of a task. They stay in their cache as long as the returned objects live."""
        return [self.case(task, case) for case in task.cases]

    def execute(self, task: ProgramTask, built: Built, prepared: list[PreparedCase]) -> Judgement:
        """Run the program on every case in order, up to the first that fails, and return the judgement.

        `prepared` keeps the cases in their cache, from which they are read.
        """
        clock = Clock()
        program = Program(task, built.product, clock, one_queue=task.project is None and needs_one_queue(built.code))
        runs: list[CaseRun] = []
        try:
            for case, run in zip(task.cases, self.runs(program), strict=False):
                if not run.passed and task.project:
                    with clock.excluded():
                        if problem := self._own_failure(task, case):
                            raise SandboxError(problem)
                runs.append(run)
                if not run.passed:
                    break
        except (OracleError, SandboxError) as error:
            at = task.cases[len(runs)].name
            runs.append(CaseRun(CaseResult(at, Verdict.INFRA_ERROR, 0.0), str(error)))
        last = runs[-1]
        judgement = replace(
            built.judgement,
            verdict=last.result.verdict,
            message=shorten(last.message),
            case=None if last.passed else last.result.name,
            cases=tuple(run.result for run in runs),
            run_s=sum(run.result.run_s for run in runs),
            compare_s=sum(run.compare_s for run in runs),
        )
        if judgement.passed and self.recorder:
            try:
                judgement = self._account(program, built.code, judgement, runs)
            except (OracleError, SandboxError) as error:
                judgement = infra_error(str(error), judgement)
        if isinstance(task.oracle, ScriptOracle):
            clock.exclude(judgement.compare_s or 0.0)
        judgement = replace(judgement, overhead_s=judgement.overhead_s + clock.own())
        return self._examiner.examine(task, built, judgement) if judgement.passed and self.sanitizer else judgement

    def _account(self, program: Program, code: str, judgement: Judgement, runs: Sequence[CaseRun]) -> Judgement:
        """Add to the judgement of a program that passed what its runs did on the GPU.

        The speed-up over the task's own program is added as well if a case can be examined, nothing is flagged against
        the program, programs do not share a GPU, and all GPUs have the same name.
        """
        task = program.task
        sizes = [sum(tensor.nbytes or 0 for tensor in case.inputs) for case in task.cases]
        # In a project, its own tests compare the outputs, not the judge. So no case of it is examined.
        examined = None if task.project else gpu_work.case_to_examine(sizes)
        timed, flags = Timed.of(runs), []
        kernels = gpu_work.kernel_uses(run.activity for run in runs)
        changes: dict[str, Any] = {"kernel_s": timed.kernel_s, "kernels": kernels}
        flag = None if all(run.activity.busy_s and run.activity.complete for run in runs) else NOTHING_RAN
        if timed.invented:
            flag = INVENTED
        if flag is None and examined is not None:
            # On zeros some programs never end. Such a program needs its inputs, so a short time limit is enough.
            wall_s = 10 + 3 * judgement.run_s
            brief = replace(self, limits=replace(self.limits, wall_s=min(self.limits.wall_s, wall_s)))
            flag = gpu_work.examine(brief.run_withheld(program, examined, runs), code)
        if flag is not None:
            flags.append(flag)
            if self.require_gpu and flag.startswith(NO_GPU_WORK):
                changes |= {"verdict": Verdict.NO_GPU_WORK, "message": flag}
        elif examined is not None and self.gpus and self.gpus.per_gpu == 1 and len(self.gpus.names) == 1:
            with program.clock.excluded():
                reference = self._reference(program, timed)
            if reference:
                changes |= {"reference_s": reference.kernel_s, "speedup": reference.kernel_s / timed.kernel_s}
                if timed.hides_more_than(reference):
                    flags.append(UNRECORDED)
                    changes["speedup"] = None
                if gpu_work.tensor_cores(timed.tensor_share, reference.tensor_share):
                    flags.append(TENSOR)
        return replace(judgement, flags=(*judgement.flags, *flags), **changes)

    def _reference(self, program: Program, timed: Timed) -> Timed | None:
        """Measure the task's own program over all cases, once per task, in the same way as answers are measured.

        An answer that has been measured (`timed`) may be the task's own program.

        Returns:
            The measurement, or None if the task has no program of its own, or none that passes with a complete record.
        """
        task = program.task
        if task.solution is None:
            return None
        with self._measuring:
            if task.fingerprint not in self._references:
                compiled = self.compile(task, task.solution)
                if compiled.binary is None or compiled.binary == program.binary:
                    self._references[task.fingerprint] = timed if compiled.binary else None
                else:
                    runs = list(self.runs(Program(task, compiled.binary)))
                    counts = all(run.passed and run.activity.complete for run in runs)
                    self._references[task.fingerprint] = Timed.of(runs) if counts else None
            return self._references[task.fingerprint]


def needs_one_queue(code: str) -> bool:
    """Return whether a program cannot have work in several streams.

    This is so if its code names no stream, no graph, and no library that may create streams.
    """
    several = r"cu(da)?(_|::)?(stream|graph)|cu(blas|dnn|fft|rand|solver|sparse|tensor)|nccl|dlopen"
    return not re.search(several, scrub(code), re.IGNORECASE)


def missing_names(task: ProgramTask, code: str) -> str:
    """Return a message if the code does not use a name that the task's project requires, else "".

    Names in comments and strings do not count.
    """
    plain = scrub(code)
    for names in task.project.requires if task.project else ():
        if not any(re.search(rf"(?<!\w){re.escape(name)}(?!\w)", plain) for name in names):
            return f"does not use {' or '.join(names)}, which the task asks for"
    return ""
