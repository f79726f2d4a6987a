"""Judge an answer to a `ModuleTask`: KernelBench's protocol, with the answer and the reference in processes apart (trial.py).

The process that holds the answer is believed in nothing. It is handed the inputs of each call masked, and the key when the judge's clock
starts; the clock stops with a digest of the outputs, which they must still have when they are handed over; all are compared. So work before
the call, results kept from other calls, changed clocks and reports are of no use.

What this does not protect from:
- A task whose right outputs are the same for all inputs cannot tell a kept result from a computed one; it is flagged.
- What a call takes beside the module is taken off: an answer that does that faster, such as by taking the mask off in its own kernel,
  gains a part of it.
"""

import secrets
import time
from contextlib import ExitStack, nullcontext
from dataclasses import asdict, dataclass, field, replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from ...sandbox import Limits, SandboxError, Verdict, scratch_folder
from ...tasks import ModuleTask
from ...text import shorten
from ..judgement import Built, Clock, Judge, Judgement, infra_error, shared_settings
from ..oracle_scripts import OracleError
from .process import BUILD_LIMITS, ModuleRunner, keep_extensions
from .session import ModuleFailed
from .trial import Trial


PROTOCOL = 8  # raised when the verdicts on modules come about differently


@dataclass
class ModuleJudge(ModuleRunner, Judge):
    """Judges modules; `compile_only` ends with the build.

    seed: what inputs are drawn from, with a key of this machine's; None: drawn for every evaluation.
    """

    build_limits: Limits = BUILD_LIMITS
    compile_only: bool = False
    seed: int | None = None
    _folders: dict[Path, ExitStack] = field(default_factory=dict, repr=False)

    def settings(self) -> dict[str, Any]:
        try:
            torch = version("torch")
        except PackageNotFoundError:
            raise SandboxError("torch is not installed: tasks of KernelBench's kind need it") from None
        settings = {
            **shared_settings(self),
            "protocol": PROTOCOL,
            "torch": torch,
            "device": self.device,
            "arch": self.arch,
            "build_limits": asdict(self.build_limits),
        }
        if not self.compile_only:
            settings |= {"seed": self.seed, "seeds": self.seeds, "trials": self.trials, "budget": self.budget_s}
        return settings

    def build(self, task: ModuleTask, code: str) -> Built:
        """Import the answer without a GPU: that builds its extensions, on the CPUs."""
        clock = Clock()
        with ExitStack() as stack:
            try:
                folder = stack.enter_context(scratch_folder())
                (folder / "answer.py").write_text(task.module(code), encoding="utf-8", errors="replace", newline="\n")
                with clock.waiting(self.turns.building()), clock.excluded():
                    begin = time.perf_counter()
                    verdict, message = self._import(folder)
                    seconds = time.perf_counter() - begin
                continues = verdict is Verdict.COMPILED and not self.compile_only
                if continues and (problem := keep_extensions(folder)):
                    verdict, message, continues = Verdict.COMPILE_ERROR, problem, False
                elif continues:
                    self._folders[folder] = stack.pop_all()
            except (SandboxError, OSError) as error:
                return Built(infra_error(str(error)))
        judgement = Judgement(
            verdict,
            message=shorten(message),
            compiled=verdict is Verdict.COMPILED,
            compile_s=seconds,
            flags=task.notes,
            overhead_s=clock.own(),
        )
        return Built(judgement, folder if continues else None)

    def _import(self, folder: Path) -> tuple[Verdict, str]:
        """Whether the answer can be imported, and what it said if not."""
        try:
            with self.hold(folder, None, self.build_limits) as module:
                module.find("ModelNew")
            return Verdict.COMPILED, ""
        except ModuleFailed as failed:
            if failed.late:
                return Verdict.COMPILE_TIMEOUT, f"not imported within {self.build_limits.wall_s:g} s"
            if failed.before:
                return Verdict.INFRA_ERROR, f"torch cannot be imported in the sandbox: {failed.first_line}"
            if not failed.error:
                return Verdict.COMPILE_ERROR, f"importing it ended the process: {failed.first_line}"
            asks_for_gpu = any(sign in failed.error["message"] for sign in ("CUDA", "NVIDIA", "cuda", "driver"))
            if self.device == "cuda" and asks_for_gpu and not failed.build_failed:
                return Verdict.COMPILED, ""  # whether it builds is seen there
            return Verdict.COMPILE_ERROR, failed.first_line

    def discard(self, built: Built) -> None:
        """Remove what `build` left; call it when an answer is judged."""
        stack = self._folders.pop(built.product, None) if built.product else None
        if stack:
            stack.close()

    def execute(self, task: ModuleTask, built: Built, prepared: None = None) -> Judgement:
        """Call the answer and compare, with the GPU to itself: others on it would change the times, and could end its calls."""
        clock = Clock()
        seed = secrets.randbits(53) if self.seed is None else self.seed
        try:
            lease = self.gpus.lease(alone=True) if self.gpus else nullcontext()
            with clock.waiting(lease) as gpu:
                judgement = Trial(self, task, built, gpu, clock, seed).judge()
        except (OracleError, SandboxError, OSError) as error:
            judgement = infra_error(str(error), built.judgement)
        return replace(judgement, overhead_s=built.judgement.overhead_s + clock.own())
