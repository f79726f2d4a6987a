"""Runs of the worker in the sandbox, and what they leave: a report, and errors in words for people."""

import json
import os
import secrets
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...sandbox import Finished, Gpu, Isolation, Limits, SandboxError, find_toolkit, run_sandboxed
from ...sandbox.isolation import python_paths


GIB = 2**30
WORKER = Path(__file__).with_name("worker.py")
RUN_LIMITS = Limits(wall_s=300.0, memory_bytes=64 * GIB, file_bytes=32 * GIB, folder_bytes=128 * GIB, processes=1024)
BUILD_LIMITS = Limits(wall_s=300.0, memory_bytes=32 * GIB, file_bytes=4 * GIB, folder_bytes=8 * GIB, processes=1024)
REPORT_BYTES = 4 << 20
_BUILD_FAILED = ("Error building extension", "Error compiling objects", "CompilationError", "CompileException")


@dataclass(frozen=True)
class Report:
    """What the worker wrote, and how its process ended; `record` is empty when it died before it could write."""

    finished: Finished
    record: Mapping[str, Any]
    name: str

    @property
    def error(self) -> Mapping[str, Any] | None:
        return self.record.get("error")

    @property
    def done(self) -> bool:
        return self.finished.stopped is None and self.record.get("stage") == "done"


@dataclass(frozen=True)
class Worker:
    """How the worker is run: the device, what extensions are built for, limits, and how timed calls are counted."""

    device: str
    arch: str
    limits: Limits
    isolation: Isolation
    trials: int
    budget_s: float

    def run(
        self,
        folder: Path,
        request: Mapping[str, Any],
        inputs: Mapping[str, Path],
        gpu: Gpu | None,
        limits: Limits | None = None,
    ) -> Report:
        """One run of the worker on `folder/answer.py`, in `folder/work`.

        Raises:
            SandboxError: The judge's side failed.
        """
        work = folder / "work"
        name = secrets.token_hex(16)
        full = {"module": "answer.py", "model": "ModelNew", "device": self.device, "token": "token", "seeds": [],
                "trials": self.trials, "budget_s": self.budget_s, **request}  # fmt: skip
        for file, text in (("request.json", json.dumps(full)), ("token", name)):
            _write_over(work / file, text)
        finished = run_sandboxed(
            [sys.executable, "-s", "-B", "worker.py"],
            folder=work,
            readonly={"worker.py": WORKER, "answer.py": folder / "answer.py", **inputs},
            visible=python_paths(),
            limits=limits or self.limits,
            environment=self.environment(work),
            gpu=gpu,
            isolation=self.isolation,
        )
        if finished.infra:
            raise SandboxError(finished.infra)
        return Report(finished, _read_report(work / "out" / f"{name}.json"), name)

    def environment(self, work: Path) -> dict[str, str]:
        number = self.arch.removeprefix("sm_")
        digits = number.rstrip("af")
        variables = {
            "PYTHONPATH": "",
            "PYTHONHASHSEED": "0",
            "CUSET_STAGE_DISABLE": "1",
            "TORCH_CUDA_ARCH_LIST": f"{digits[:-1]}.{digits[-1]}{number[len(digits) :]}",
            "TORCH_EXTENSIONS_DIR": str(work / "extensions"),
            "TRITON_CACHE_DIR": str(work / "triton"),
            "TORCHINDUCTOR_CACHE_DIR": str(work / "inductor"),
            "MAX_JOBS": "4",
        }
        if self.device == "cuda":
            variables["CUDA_HOME"] = str(find_toolkit().nvcc.resolve().parent.parent)
        return variables


def _write_over(path: Path, text: str) -> None:
    """Write a file anew in a folder that foreign code has had: what it left under the name goes, and is not followed."""
    if path.is_symlink() or path.is_file():
        path.unlink()
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o644), "w") as file:
        file.write(text)


def _read_report(path: Path) -> dict[str, Any]:
    """The worker's report; {} when there is none that can be read."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(handle, "rb") as file:
            record = json.loads(file.read(REPORT_BYTES))
    except (OSError, ValueError):
        return {}
    return record if isinstance(record, dict) else {}


def is_build_failure(error: Mapping[str, Any]) -> bool:
    return any(sign in error["message"] or sign in error["type"] for sign in _BUILD_FAILED)


def needs_gpu(error: Mapping[str, Any]) -> bool:
    return any(sign in error["message"] for sign in ("CUDA", "NVIDIA", "cuda", "driver", "0 active drivers"))


def first_error(error: Mapping[str, Any]) -> str:
    """The compiler's first error line where there is one, else the exception."""
    for line in error["message"].splitlines():
        if ": error" in line or ": fatal error" in line or line.startswith("error"):
            return line.strip()
    return f"{error['type']}: {error['message']}"


def ending(finished: Finished) -> str:
    if finished.stopped:
        return f"stopped at its limit ({finished.stopped})"
    said = (finished.stderr.strip() or finished.stdout.strip())[-1000:]
    return f"ended with {finished.returncode} before it was done. {said}"
