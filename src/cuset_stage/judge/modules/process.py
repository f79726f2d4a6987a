"""The sandboxed process of a module: its folder, its environment, what it may use."""

import os
import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from ...sandbox import (
    Gpu,
    Isolation,
    Limits,
    SandboxError,
    compile_library,
    find_toolkit,
    python_paths,
    remove_tree,
    scratch_folder,
)
from ...sandbox.background import BackgroundRun
from ...tasks import ModuleTask
from ..devices import GpuPool, Turns
from ..gpu_activity import Activity, Recorder
from .session import Module


GIB = 2**30
SCRIPTS = {name: Path(__file__).with_name(name) for name in ("worker.py", "handover.py")}
HANDOVER = Path(__file__).with_name("handover.cu")
RUN_LIMITS = Limits(wall_s=300.0, memory_bytes=64 * GIB, file_bytes=32 * GIB, folder_bytes=128 * GIB, processes=1024)
BUILD_LIMITS = Limits(wall_s=300.0, memory_bytes=32 * GIB, file_bytes=4 * GIB, folder_bytes=4 * GIB, processes=1024)
JUDGES_OWN_S = 3600.0  # what the judge may take between a module's calls, which does not count as the module's time
EXTENSIONS = "extensions"
MOST_EXTENSIONS, MOST_PATH = GIB, 2048  # bytes; of the paths of folders, so that no file's is longer than Linux takes


@dataclass
class ModuleRunner:
    """Holds modules in processes of their own (worker.py).

    Args:
        device: "cuda", or "cpu" where there is no GPU: no speed is measured then.
        gpus: Where candidates and references run; None with device "cpu" and with compile_only.
        arch: What extensions are built for, as nvcc has it.
        seeds: Calls that are compared before any is timed, at least 2.
        trials, budget_s: Timed calls at most, and seconds after which no further one begins.
        recorder: Of the GPU's work; None: nothing is said of that.
    """

    device: str = "cuda"
    gpus: GpuPool | None = None
    arch: str = "sm_90"
    limits: Limits = RUN_LIMITS
    isolation: Isolation = Isolation.AUTO
    seeds: int = 5
    trials: int = 40
    budget_s: float = 20.0
    turns: Turns = field(default_factory=Turns, repr=False)
    recorder: Recorder | None = None
    # Fingerprint of a task -> what calls of its own module were recorded; None where they cannot be.
    recorded: dict[str, Sequence[Activity] | None] = field(default_factory=dict, repr=False)

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
        environment = self._environment(work)
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

    def _environment(self, work: Path) -> dict[str, str]:
        number = self.arch.removeprefix("sm_")
        digits = number.rstrip("af")
        variables = {
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
            variables["CUDA_HOME"] = str(find_toolkit().folder)
        return variables


def keep_extensions(folder: Path) -> str:
    """Keep what a build left in `folder/work` for later processes: each starts from a copy of it. What is wrong with it, or ""."""
    left, kept = folder / "work" / EXTENSIONS, folder / EXTENSIONS
    if not left.is_dir() or left.is_symlink():
        return ""
    left.rename(kept)
    _own(kept)
    size = 0
    for place, folders, files in os.walk(kept):
        if len(os.fsencode(place)) > MOST_PATH:
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
