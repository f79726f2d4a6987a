"""Judge an answer to a `ModuleTask`: KernelBench's protocol, with the candidate and the reference in processes apart.

For every task, once: the inputs of all seeds (one process), the reference's outputs (another). For every answer: import
without a GPU, which builds its extensions; forward, in a process that never holds a reference output; the comparison
here, on raw bytes. The same module object is called with fresh tensors for every seed, then with the first call's own
tensors into which other contents are written (calls.py), so that a result cached by object, address, shape, first elements
or sums is wrong. On a GPU, for a right answer: the reference is timed, then the candidate, then the reference once more.
Every timed call is given new contents at the same addresses; outputs of calls that the candidate does not know are
compared. Without a GPU the same calls are made and compared, and no speed comes of them.

What this does not protect from; all but the last are flagged:
- A candidate that goes after the interpreter that calls and times it (frames, gc, ctypes, the CUDA driver) can change
  the times and the report, never the comparison. Where the clock on the wall contradicts the events, it counts.
- A reference whose outputs depend on earlier calls: only the first calls can be compared.
- The inputs' files lie in its sandbox before forward is called: one that reads them could compute ahead.
- A task whose right outputs are the same for all inputs cannot tell a cached result from a computed one.
- Results cached by the whole contents are right results; contents that no call has seen show their cost, unless it is
  less than half as much again as a cached result, or less than 3 microseconds more.
"""

from contextlib import ExitStack, nullcontext
from dataclasses import asdict, dataclass, field, replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from ...sandbox import Gpu, Limits, SandboxError, Verdict, resolve_isolation, scratch_folder
from ...tasks import ModuleTask
from ...text import shorten
from ..devices import NoGpuLeft
from ..judgement import JUDGE_VERSION, Built, Clock, Judgement, infra_error
from ..oracle_runs import OracleError
from .checks import source_flags
from .reference import Reference
from .runs import BUILD_LIMITS, Report, Worker, keep_extensions
from .trial import Trial


PROTOCOL = 4  # raised when the verdicts on modules come about differently


@dataclass
class ModuleJudge(Worker):
    """Judges modules with the worker's settings; `compile_only` ends with the build."""

    build_limits: Limits = BUILD_LIMITS
    compile_only: bool = False
    _folders: dict[Path, ExitStack] = field(default_factory=dict, repr=False)

    def settings(self) -> dict[str, Any]:
        try:
            torch = version("torch")
        except PackageNotFoundError:
            raise SandboxError("torch is not installed: tasks of KernelBench's kind need it") from None
        settings = {
            "judge": JUDGE_VERSION,
            "protocol": PROTOCOL,
            "torch": torch,
            "device": self.device,
            "arch": self.arch,
            "build_limits": asdict(self.build_limits),
            "compile_only": self.compile_only,
            "isolation": str(resolve_isolation(self.isolation)),
        }
        if not self.compile_only:
            settings |= {
                "limits": asdict(self.limits),
                "seeds": self.seeds,
                "trials": self.trials,
                "budget": self.budget_s,
                # Speed depends on these two; only here, because programs are not timed against a reference.
                "gpus": self.gpus.names if self.gpus else [],
                "per_gpu": self.gpus.per_gpu if self.gpus else 1,
            }
        return settings

    def judge(self, task: ModuleTask, code: str) -> Judgement:
        """All three steps, one after the other."""
        built = self.build(task, code)
        prepared = self.prepare(task)
        try:
            return built.judgement if built.product is None else self.execute(task, built, prepared)
        finally:
            self.discard(built)
            self.release(prepared)

    def build(self, task: ModuleTask, code: str) -> Built:
        """Import the answer without a GPU: that builds its extensions, on the CPUs."""
        clock = Clock()
        with ExitStack() as stack:
            try:
                folder = stack.enter_context(scratch_folder())
                (folder / "answer.py").write_text(task.module(code), encoding="utf-8", errors="replace", newline="\n")
                with clock.waiting(self.turns.building()):
                    request = {"action": "build", "model": "ModelNew"}
                    report = self.run(folder, request, {}, None, self.build_limits)
                clock.exclude(report.finished.seconds)
                verdict, message = self._build_verdict(report)
                continues = verdict is Verdict.COMPILED and not self.compile_only
                if continues:
                    keep_extensions(folder)
                    self._folders[folder] = stack.pop_all()
            except (SandboxError, OSError) as error:
                return Built(infra_error(str(error)))
        judgement = Judgement(
            verdict,
            message=shorten(message),
            compiled=verdict is Verdict.COMPILED,
            compile_s=report.finished.seconds,
            flags=(*task.notes, *source_flags(code)),
            overhead_s=clock.own(),
        )
        return Built(judgement, folder if continues else None)

    def _build_verdict(self, report: Report) -> tuple[Verdict, str]:
        if report.finished.stopped == "wall":
            return Verdict.COMPILE_TIMEOUT, f"not imported within {self.build_limits.wall_s:g} s"
        if report.done:
            return Verdict.COMPILED, ""
        if report.error is None:
            return Verdict.COMPILE_ERROR, f"importing it ended the process: {report.first_error}"
        if report.record.get("stage") == "start":
            return Verdict.INFRA_ERROR, f"torch cannot be imported in the sandbox: {report.error['message']}"
        asks_for_gpu = any(sign in report.error["message"] for sign in ("CUDA", "NVIDIA", "cuda", "driver"))
        if self.device == "cuda" and asks_for_gpu and not report.build_failed:
            return Verdict.COMPILED, ""  # whether it builds is seen there
        return Verdict.COMPILE_ERROR, report.first_error

    def prepare(self, task: ModuleTask) -> Reference:
        """Inputs and outputs are made later: they may need the GPU that `execute` leases."""
        return Reference(self, task)

    def discard(self, built: Built) -> None:
        """Remove what `build` left; call it when an answer is judged."""
        stack = self._folders.pop(built.product, None) if built.product else None
        if stack:
            stack.close()

    def release(self, prepared: Reference) -> None:
        """Remove inputs and outputs of a task; call it when its last answer is judged."""
        prepared.close()

    def execute(self, task: ModuleTask, built: Built, prepared: Reference) -> Judgement:
        clock = Clock()
        try:
            with clock.waiting(self.gpus.lease() if self.gpus else nullcontext()) as gpu:
                with clock.excluded():
                    prepared.inputs(gpu)
                judgement = self.trial(built, prepared, gpu, clock).judge()
            if self.gpus and self.gpus.per_gpu > 1 and not judgement.passed and not judgement.infra:
                # Others may have taken the memory or the time.
                with clock.waiting(self.gpus.lease(gpu, alone=True)) as gpu:
                    judgement = self.trial(built, prepared, gpu, clock).judge()
        except NoGpuLeft:
            raise
        except (OracleError, SandboxError, OSError) as error:
            judgement = infra_error(str(error), built.judgement)
        return replace(judgement, overhead_s=built.judgement.overhead_s + clock.own())

    def trial(self, built: Built, prepared: Reference, gpu: Gpu | None, clock: Clock) -> Trial:
        return Trial(self, built, prepared, gpu, clock)
