"""Judge an answer to a `ModuleTask` by KernelBench's protocol.

The answer and the reference run in separate processes (trial.py). Nothing that the answer's process reports is
trusted. It gets the inputs of each call masked. The key follows when the judge's clock starts. The clock stops when a
digest of the outputs arrives. The outputs must still have this digest when they are handed over later, and all of them
are compared with the reference. So an answer gains nothing from work before the call, from results kept from other
calls, or from manipulated clocks and reports.

Two things are not prevented:

- If the right outputs of a task are the same for all inputs, a kept result cannot be told from a computed one. Such
  tasks are flagged.
- The time that a call takes beside the module is subtracted. An answer that is faster at this part, for example by
  unmasking in its own kernel, gains a part of that time.
"""

import os
import re
import secrets
import shutil
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import asdict, dataclass, field, replace
from importlib.metadata import version
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
from ...sandbox.folders import lack_of_room
from ...tasks import ModuleTask
from ...text import shorten
from ..devices import GpuPool, Turns
from ..gpu_activity import Activity, Recorder
from ..judgement import Built, Clock, Judge, Judgement, infra_error, shared_settings
from ..oracle import OracleError
from .session import Module, ModuleFailed
from .trial import Trial


PROTOCOL = 8  # increase it when the way in which modules are judged changes
GIB = 2**30
SCRIPTS = {name: Path(__file__).with_name(name) for name in ("worker.py", "handover.py")}
HANDOVER = Path(__file__).with_name("handover.cu")
RUN_LIMITS = Limits(wall_s=300.0, memory_bytes=64 * GIB, file_bytes=32 * GIB, folder_bytes=128 * GIB, processes=1024)
BUILD_LIMITS = Limits(wall_s=300.0, memory_bytes=32 * GIB, file_bytes=4 * GIB, folder_bytes=4 * GIB, processes=1024)
JUDGES_OWN_S = 3600.0  # time that the judge may take between calls; it does not count as the module's time
EXTENSIONS = "extensions"
# In bytes. The limit on the paths of folders keeps the paths of their files below the maximum of Linux.
MOST_EXTENSIONS, MOST_PATH = GIB, 2048
MOST_DEPTH = 64  # of nested folders, because shutil.copytree is recursive


@dataclass
class ModuleJudge(Judge):
    """Judges modules. Each module is held in a process of its own (worker.py).

    Args:
        device: "cuda", or "cpu" if there is no GPU. No speed is measured on "cpu".
        gpus: The GPUs on which answers and references run. None with device "cpu" and with `compile_only`.
        arch: The architecture for which extensions are built, as nvcc names it.
        limits: Limits of a module's process. `wall_s` is the time for all that it is asked to do.
        build_limits: Limits of the process that imports an answer to build its extensions.
        seeds: Number of calls that are compared before any call is timed, at least 2.
        trials: Maximum number of timed calls.
        budget_s: Seconds after which no further timed call begins.
        recorder: Records the GPU's work. With None, nothing is reported about it.
        compile_only: If true, judging ends after the build.
        seed: Seed of the inputs, used together with a key of this machine. With None, each evaluation draws a new
            seed.
        recorded: Task fingerprint -> recorded calls of the task's own module, or None if they cannot be recorded.
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
    recorded: dict[str, Sequence[Activity] | None] = field(default_factory=dict, repr=False)

    def settings(self) -> dict[str, Any]:
        """Return the settings that a verdict depends on. See `Judge.settings`."""
        settings = {
            **shared_settings(self),
            "protocol": PROTOCOL,
            "torch": version("torch"),
            "device": self.device,
            "arch": self.arch,
            "build_limits": asdict(self.build_limits),
        }
        if not self.compile_only:
            settings |= {"seed": self.seed, "seeds": self.seeds, "trials": self.trials, "budget": self.budget_s}
        return settings

    def build(self, task: ModuleTask, code: str) -> Built:
        """Import the answer without a GPU. This builds its extensions, on the CPUs."""
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
        """Import the answer in the sandbox. Return the verdict and, if the import fails, the message."""
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
                return Verdict.COMPILED, ""  # it may need a GPU to be imported; `execute` will tell
            return Verdict.COMPILE_ERROR, failed.first_line

    def discard(self, built: Built) -> None:
        """Remove the files of `build`. Call it after the answer has been judged."""
        if built.held:
            built.held.close()

    def execute(self, task: ModuleTask, built: Built, prepared: None = None) -> Judgement:
        """Call the answer, compare its outputs with the reference's, and time it.

        It has the GPU to itself, because other programs on the GPU would change the times and could make calls fail.
        """
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
        """Make a process of its own for `folder/answer.py`. It starts when the returned `Module` is entered.

        Each process gets a new `folder/work` with a copy of `folder/extensions`, so that it finds nothing else that an
        earlier process left. The path is the same each time because the files of ninja contain it.

        Args:
            folder: Folder with answer.py.
            gpu: The GPU, or None to run on the CPU.
            limits: Limits of the process, those of the judge by default.
            recorder: If given, the process's work on the GPU is recorded (`Module.leave`).
            reference_of: See `Module`.

        Raises:
            SandboxError: The judge's side failed.
        """
        work, limits = folder / "work", limits or self.limits
        try:
            remove_tree(work)
            work.mkdir()
            if (folder / EXTENSIONS).is_dir():
                shutil.copytree(folder / EXTENSIONS, work / EXTENSIONS, symlinks=True, copy_function=_copy_for_all)
            room = shutil.disk_usage(work).free // 2  # the other half is for the judge, which saves the outputs
        except OSError as error:
            raise SandboxError(f"{work} cannot be made: {error}") from error
        if lacking := lack_of_room(work):
            raise SandboxError(lacking)  # before the module is charged for half of what little is left
        limits = replace(limits, folder_bytes=max(1, min(limits.folder_bytes or room, room)))
        readonly = {**SCRIPTS, "answer.py": folder / "answer.py"}
        if gpu is not None:
            handover = compile_library((HANDOVER,), (), find_toolkit(), self.isolation, arch=self.arch)
            readonly["libhandover.so"] = handover.binary
        environment = {
            "PYTHONPATH": "",
            "PYTHONHASHSEED": "0",
            "CUSET_STAGE_DISABLE": "1",
            "TORCH_CUDA_ARCH_LIST": re.sub(r"sm_(\d+)(\d[af]?)", r"\1.\2", self.arch),
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
        """Yield the task's own module, imported. All answers are compared with it. For the arguments see `hold`.

        Raises:
            OracleError: The module failed.
        """
        with scratch_folder() as folder:
            (folder / "answer.py").write_text(task.reference, encoding="utf-8", newline="\n")
            with self.hold(folder, gpu, recorder=recorder, reference_of=task.id) as module:
                module.find("Model")
                yield module


def keep_extensions(folder: Path) -> str:
    """Move the extensions that a build left in `folder/work` to `folder/extensions`.

    Each later process starts with a copy of them.

    Returns:
        A message if they cannot be kept because they are too large or too deeply nested, else "".
    """
    left, kept = folder / "work" / EXTENSIONS, folder / EXTENSIONS
    if not left.is_dir() or left.is_symlink():
        return ""
    for place in (left.parent, left):
        place.chmod(0o755)  # a folder can only be moved with write permission
    left.rename(kept)
    _own(kept)
    size = 0
    for place, folders, files in os.walk(kept):
        if len(os.fsencode(place)) > MOST_PATH or len(Path(place).relative_to(kept).parts) > MOST_DEPTH:
            return "leaves in TORCH_EXTENSIONS_DIR folders that are too deep to copy"
        for name in (*folders, *files):
            _own(Path(place, name))
            size += os.lstat(os.path.join(place, name)).st_size
        # Apparent sizes are added up, because a copy fills the holes of sparse files and copies hard links twice.
        if size > MOST_EXTENSIONS:
            return f"leaves in TORCH_EXTENSIONS_DIR files of more than {MOST_EXTENSIONS // GIB} GiB"
    return ""


def _own(path: Path) -> None:
    """Make a file the judge's own. A later run may have the same user, and permissions may have been removed."""
    if os.geteuid() == 0:
        os.chown(path, 0, 0, follow_symlinks=False)
    if path.is_symlink():
        return
    if path.is_dir():
        path.chmod(0o755)
    elif path.stat().st_mode & 0o666 != 0o444:  # else it may be a link to a file of the cache, which keeps its mode
        path.chmod(0o644)


def _copy_for_all(source: str, target: str) -> None:
    """Copy a regular file so that the user of the run may change it (ninja appends to its log). Skip other kinds."""
    if os.path.isfile(source):
        shutil.copy2(source, target)
        os.chmod(target, 0o666)
