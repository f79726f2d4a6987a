"""Judge an answer to a `ModuleTask`: KernelBench's protocol, with the answer and the reference in processes apart (trial.py).

The process that holds the answer is believed in nothing. It is handed the inputs of each call masked, and the key when the judge's clock
starts; the clock stops with a digest of the outputs, which they must still have when they are handed over; all are compared. So work before
the call, results kept from other calls, changed clocks and reports are of no use.

What this does not protect from:
- A task whose right outputs are the same for all inputs cannot tell a kept result from a computed one; it is flagged.
- What a call takes beside the module is taken off: an answer that does that faster, such as by taking the mask off in its own kernel,
  gains a part of it.
"""

import os
import secrets
import shutil
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import asdict, dataclass, field, replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from ...sandbox import (
    Gpu,
    Isolation,
    Limits,
    SandboxError,
    Verdict,
    compile_library,
    find_toolkit,
    python_paths,
    remove_tree,
    scratch_folder,
)
from ...sandbox.background import BackgroundRun
from ...tasks import ModuleTask
from ...text import shorten
from ..devices import GpuPool, Turns
from ..gpu_activity import Activity, Recorder
from ..judgement import Built, Clock, Judge, Judgement, infra_error, shared_settings
from ..oracle import OracleError
from .session import Module, ModuleFailed
from .trial import Trial


PROTOCOL = 8  # raised when the verdicts on modules come about differently
GIB = 2**30
SCRIPTS = {name: Path(__file__).with_name(name) for name in ("worker.py", "handover.py")}
HANDOVER = Path(__file__).with_name("handover.cu")
RUN_LIMITS = Limits(wall_s=300.0, memory_bytes=64 * GIB, file_bytes=32 * GIB, folder_bytes=128 * GIB, processes=1024)
BUILD_LIMITS = Limits(wall_s=300.0, memory_bytes=32 * GIB, file_bytes=4 * GIB, folder_bytes=4 * GIB, processes=1024)
JUDGES_OWN_S = 3600.0  # what the judge may take between a module's calls, which does not count as the module's time
EXTENSIONS = "extensions"
MOST_EXTENSIONS, MOST_PATH = GIB, 2048  # bytes; of the paths of folders, so that no file's is longer than Linux takes
MOST_DEPTH = 64  # of folders in each other: shutil.copytree calls itself for each


@dataclass
class ModuleJudge(Judge):
    """Judges modules, each held in a process of its own (worker.py).

    Args:
        device: "cuda", or "cpu" where there is no GPU: no speed is measured then.
        gpus: Where candidates and references run; None with device "cpu" and with compile_only.
        arch: What extensions are built for, as nvcc has it.
        seeds: Calls that are compared before any is timed, at least 2.
        trials, budget_s: Timed calls at most, and seconds after which no further one begins.
        recorder: Of the GPU's work; None: nothing is said of that.
        compile_only: End with the build.
        seed: What inputs are drawn from, with a key of this machine's; None: drawn for every evaluation.
    """

    device: str = "cuda"
    gpus: GpuPool | None = None
    arch: str = "sm_90"
    limits: Limits = RUN_LIMITS
    build_limits: Limits = BUILD_LIMITS
    isolation: Isolation = Isolation.AUTO
    seeds: int = 5
    trials: int = 40
    budget_s: float = 20.0
    turns: Turns = field(default_factory=Turns, repr=False)
    recorder: Recorder | None = None
    compile_only: bool = False
    seed: int | None = None
    # Fingerprint of a task -> what calls of its own module were recorded; None where they cannot be.
    recorded: dict[str, Sequence[Activity] | None] = field(default_factory=dict, repr=False)

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
            return Built(judgement, folder, stack.pop_all()) if continues else Built(judgement)

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
        if built.held:
            built.held.close()

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

    def hold(
        self,
        folder: Path,
        gpu: Gpu | None,
        limits: Limits | None = None,
        recorder: Recorder | None = None,
        reference_of: str | None = None,
    ) -> Module:
        """`folder/answer.py` in a process of its own. recorder: its work on the GPU is recorded (`Module.leave`). reference_of: see `Module`.

        Every process has `folder/work` to itself, fresh but for a copy of `folder/extensions`, so that none finds what an earlier
        one left. The path is the same each time: ninja's files name it. Raises SandboxError when the judge's side failed.
        """
        work, limits = folder / "work", limits or self.limits
        try:
            remove_tree(work)
            work.mkdir()
            if (folder / EXTENSIONS).is_dir():
                shutil.copytree(folder / EXTENSIONS, work / EXTENSIONS, symlinks=True, copy_function=_copy_for_all)
            room = shutil.disk_usage(work).free // 2  # the rest is the judge's, who writes down what is returned
        except OSError as error:
            raise SandboxError(f"{work} cannot be made: {error}") from error
        limits = replace(limits, folder_bytes=max(1, min(limits.folder_bytes or room, room)))
        readonly = {**SCRIPTS, "answer.py": folder / "answer.py"}
        if gpu is not None:
            handover = compile_library((HANDOVER,), (), find_toolkit(), self.isolation, arch=self.arch)
            readonly["libhandover.so"] = handover.binary
        number = self.arch.removeprefix("sm_")
        digits = number.rstrip("af")
        environment = {
            "PYTHONPATH": "",
            "PYTHONHASHSEED": "0",
            "CUSET_STAGE_DISABLE": "1",
            "TORCH_CUDA_ARCH_LIST": f"{digits[:-1]}.{digits[-1]}{number[len(digits) :]}",
            "TORCH_EXTENSIONS_DIR": str(work / EXTENSIONS),
            "TRITON_CACHE_DIR": str(work / "triton"),
            "TORCHINDUCTOR_CACHE_DIR": str(work / "inductor"),
            "MAX_JOBS": "4",
        }
        if self.device == "cuda":
            environment["CUDA_HOME"] = str(find_toolkit().folder)
        if recorder:
            readonly |= recorder.files
            environment |= recorder.environment(work)

        process = BackgroundRun(
            [sys.executable, "-s", "-B", "worker.py", "cpu" if gpu is None else "cuda"],
            folder=work,
            readonly=readonly,
            visible=python_paths(),
            limits=replace(limits, wall_s=limits.wall_s + JUDGES_OWN_S),
            environment=environment,
            gpu=gpu,
            isolation=self.isolation,
        )
        return Module(process, work, limits.wall_s, reference_of)

    @contextmanager
    def reference(self, task: ModuleTask, gpu: Gpu | None, recorder: Recorder | None = None) -> Iterator[Module]:
        """The task's own module, imported: what all answers are held against. Raises OracleError when it fails."""
        with scratch_folder() as folder:
            (folder / "answer.py").write_text(task.reference, encoding="utf-8", newline="\n")
            with self.hold(folder, gpu, recorder=recorder, reference_of=task.id) as module:
                module.find("Model")
                yield module


def keep_extensions(folder: Path) -> str:
    """Keep what a build left in `folder/work` for later processes: each starts from a copy of it. What is wrong with it, or ""."""
    left, kept = folder / "work" / EXTENSIONS, folder / EXTENSIONS
    if not left.is_dir() or left.is_symlink():
        return ""
    for place in (left.parent, left):
        place.chmod(0o755)  # who may not write to a folder may not move it
    left.rename(kept)
    _own(kept)
    size = 0
    for place, folders, files in os.walk(kept):
        if len(os.fsencode(place)) > MOST_PATH or len(Path(place).relative_to(kept).parts) > MOST_DEPTH:
            return "leaves in TORCH_EXTENSIONS_DIR folders that are too deep to copy"
        for name in (*folders, *files):
            _own(Path(place, name))
            size += os.lstat(os.path.join(place, name)).st_size
        if size > MOST_EXTENSIONS:  # a copy fills holes, and knows no second names
            return f"leaves in TORCH_EXTENSIONS_DIR files of more than {MOST_EXTENSIONS // GIB} GiB"
    return ""


def _own(path: Path) -> None:
    """Make what a process left the judge's own: its user may be that of another run later, and it may have closed it."""
    if os.geteuid() == 0:
        os.chown(path, 0, 0, follow_symlinks=False)
    if not path.is_symlink():
        path.chmod(0o755 if path.is_dir() else 0o644)


def _copy_for_all(source: str, target: str) -> None:
    """A copy that the run's own user may change (ninja appends to its log); only what is a regular file."""
    if os.path.isfile(source):
        shutil.copy2(source, target)
        os.chmod(target, 0o666)
