"""Runs of the worker in the sandbox, and what they leave: a report, and errors in words for people."""

import json
import os
import secrets
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ...sandbox import Finished, Gpu, Isolation, Limits, SandboxError, find_toolkit, python_paths, run_sandboxed
from ...sandbox.folders import out_of_room, remove_tree
from ..devices import GpuPool, Turns


GIB = 2**30
SCRIPTS = {name: Path(__file__).with_name(name) for name in ("worker.py", "inputs.py")}
RUN_LIMITS = Limits(wall_s=300.0, memory_bytes=64 * GIB, file_bytes=32 * GIB, folder_bytes=128 * GIB, processes=1024)
BUILD_LIMITS = Limits(wall_s=300.0, memory_bytes=32 * GIB, file_bytes=4 * GIB, folder_bytes=4 * GIB, processes=1024)
REPORT_BYTES = 4 << 20
EXTENSIONS = "extensions"
_BUILD_FAILED = ("Error building extension", "Error compiling objects", "CompilationError", "CompileException")


@dataclass(frozen=True)
class Report:
    """What the worker wrote, and how its process ended; `record` is empty when it died before it could write."""

    finished: Finished
    record: Mapping[str, Any]
    name: str
    work: Path

    @property
    def error(self) -> Mapping[str, Any] | None:
        return self.record.get("error")

    @property
    def done(self) -> bool:
        return self.finished.stopped is None and self.record.get("stage") == "done"

    @property
    def build_failed(self) -> bool:
        """Whether an extension did not compile."""
        said = f"{self.error['type']}: {self.error['message']}" if self.error else ""
        return any(sign in said for sign in _BUILD_FAILED)

    @property
    def first_error(self) -> str:
        """The compiler's first error line where there is one, else the exception, else how the process ended."""
        error, finished = self.error, self.finished
        if error is None:
            if finished.stopped:
                return f"stopped at its limit ({finished.stopped})"
            said = (finished.stderr.strip() or finished.stdout.strip())[-1000:]
            return f"ended with {finished.returncode} before it was done. {said}".strip()
        for line in error["message"].splitlines():
            if ": error" in line or ": fatal error" in line or line.startswith("error"):
                return line.strip()
        return error["message"] if error["type"] == "Problem" else f"{error['type']}: {error['message']}"


@dataclass
class Worker:
    """Runs worker.py.

    Args:
        device: "cuda", or "cpu" where there is no GPU: no speed is measured then.
        gpus: Where candidates and references run; None with device "cpu" and with compile_only.
        arch: What extensions are built for, as nvcc has it.
        seeds: Inputs drawn for the comparison, at least 2.
        trials, budget_s: Timed calls at most, and seconds after which no further one begins.
    """

    device: str = "cuda"
    gpus: GpuPool | None = None
    arch: str = "sm_90"
    limits: Limits = RUN_LIMITS
    isolation: Isolation = Isolation.AUTO
    seeds: int = 5
    trials: int = 100
    budget_s: float = 20.0
    turns: Turns = field(default_factory=Turns, repr=False)

    def run(
        self,
        folder: Path,
        request: Mapping[str, Any],
        inputs: Mapping[str, Path],
        gpu: Gpu | None,
        limits: Limits | None = None,
    ) -> Report:
        """One run of the worker on `folder/answer.py`.

        Every run has `folder/work` to itself, fresh but for a copy of `folder/extensions`, so that no run finds what an
        earlier one left. The path is the same each time: ninja's files name it. Raises SandboxError when the judge's side
        failed.
        """
        work, name = folder / "work", secrets.token_hex(16)
        trials = self.trials if self.device == "cuda" else 0  # the fewest: the times are not used
        settings = {"device": self.device, "trials": trials, "budget_s": self.budget_s}
        try:
            remove_tree(work)
            work.mkdir()
            if (folder / EXTENSIONS).is_dir():
                shutil.copytree(folder / EXTENSIONS, work / EXTENSIONS, symlinks=True, copy_function=_copy_for_all)
            (work / "request.json").write_text(json.dumps({**settings, **request}), encoding="utf-8")
            (work / "token").write_text(name, encoding="utf-8")
        except OSError as error:
            raise SandboxError(f"{work} cannot be made: {error}") from error
        finished = run_sandboxed(
            [sys.executable, "-s", "-B", "worker.py"],
            folder=work,
            readonly={**SCRIPTS, "answer.py": folder / "answer.py", **inputs},
            visible=python_paths(),
            limits=limits or self.limits,
            environment=self._environment(work),
            gpu=gpu,
            isolation=self.isolation,
        )
        if finished.infra:
            raise SandboxError(finished.infra)
        report = Report(finished, _read_report(work / "out" / f"{name}.json"), name, work)
        if report.done or finished.stopped is not None:
            return report
        if lacking := finished.lacked_memory(str(report.error)) or out_of_room(work):
            raise SandboxError(lacking)  # the answer is not to blame
        return report

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


def keep_extensions(folder: Path) -> None:
    """Keep what a build left in `folder/work` for later runs: each starts from a copy of it."""
    left = folder / "work" / EXTENSIONS
    if left.is_dir() and not left.is_symlink():
        left.rename(folder / EXTENSIONS)
        own_tree(folder / EXTENSIONS)


def own_tree(tree: Path) -> None:
    """Make a tree that a run left the judge's own: the run's user may be that of another run later."""
    for place, folders, files in os.walk(tree):
        for name in (".", *folders, *files):
            path = os.path.join(place, name)
            if os.geteuid() == 0:
                os.chown(path, 0, 0, follow_symlinks=False)
            if not os.path.islink(path):
                os.chmod(path, 0o755 if os.path.isdir(path) else 0o644)


def _copy_for_all(source: str, target: str) -> None:
    """A copy that the run's own user may change (ninja appends to its log); only what is a regular file."""
    if os.path.isfile(source):
        shutil.copy2(source, target)
        os.chmod(target, 0o666)


def _read_report(path: Path) -> dict[str, Any]:
    """The worker's report; {} when there is none that can be read."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(handle, "rb") as file:
            record = json.loads(file.read(REPORT_BYTES))
    except (OSError, ValueError, RecursionError):
        return {}
    return record if isinstance(record, dict) else {}
