"""Runs the scripts of an oracle in the sandbox: gen.py, compare.py, a reference, each in a process and a folder of its own.

A generator that a gen.py leaves unseeded (random, numpy.random, numpy's default_rng, torch) starts from a seed of the task, so
that the data can be made again on another machine; a script that seeds itself sees no difference.
"""

import json
import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import psutil

from ..sandbox import (
    Finished,
    Gpu,
    Isolation,
    Limits,
    SandboxError,
    lease_gpu,
    list_gpus,
    python_paths,
    run_sandboxed,
    scratch_folder,
)
from ..tasks.base import Case, ProgramTask, ReferenceOracle, ScriptOracle
from ..text import one_line


GIB = 2**30
DRIVER = Path(__file__).with_name("oracle_driver.py")
ORACLE_LIMITS = Limits(wall_s=600.0, memory_bytes=None, file_bytes=16 * GIB, folder_bytes=32 * GIB, processes=1024)
"""For making inputs and references: the slowest scripts of CUDABench take minutes and the largest writes 8 GiB. Memory: what
the machine has, less a tenth."""
COMPARE_LIMITS = replace(ORACLE_LIMITS, wall_s=300.0)

EXIT_SAID = "oracle_driver: sys.exit: "  # as oracle_driver.py prints it
_TRUE = re.compile(r"(?<![A-Za-z])T(?![A-Za-z])")


class OracleError(RuntimeError):
    """The judge's own side failed: a reference that cannot be made or read. Never charged to a model."""


class OracleUnavailable(OracleError):
    """Something of this machine failed, not the task: no space, no process. Another try may work."""


class OracleStopped(OracleError):
    """A script of the task was stopped at one of its limits."""


@dataclass(frozen=True)
class Printed:
    """What compare.py said. verdict: True for a T and no F, False for an F, None for neither. crashed: it ended with a
    traceback, whose last line is `message`."""

    verdict: bool | None
    crashed: bool
    message: str


def run_reference(
    task: ProgramTask, case: Case, oracle: ReferenceOracle, folder: Path, limits: Limits, isolation: Isolation
) -> dict[str, list[float]]:
    """Leave inputs/<name>.bin and expected/<name>.bin in `folder`; {output: [rtol, atol]}, as the reference has it."""

    def tensors(rows):
        return [{"name": row.name, "dtype": row.dtype, "shape": list(row.shape)} for row in rows]

    job = {
        "id": task.id,
        "case": case.name,
        "parameters": dict(case.parameters),
        "inputs": tensors(case.inputs),
        "outputs": tensors(case.outputs),
    }
    what = f"task {task.id}, case {case.name}: the reference"
    scripts = {"reference.py": oracle.source, "job.json": json.dumps(job)}
    finished = _run_driver(["reference", "job.json"], scripts, {}, folder, limits, isolation)
    _check(finished, what, limits)
    return _read_result(folder / "result.json", what)["tolerance"]


def run_generate(
    task: ProgramTask,
    oracle: ScriptOracle,
    folder: Path,
    limits: Limits,
    isolation: Isolation,
    *,
    seeded: bool = True,
    gpu: Gpu | None = None,
) -> str:
    """Run gen.py in `folder`; what it writes is in data/. seeded: see the module's description.

    Returns "sys.exit: <message>" when that is how it ended, else "": it is no failure, but it may explain what is missing.
    """
    what = f"task {task.id}: gen.py"
    (folder / "data").mkdir()
    seed = [str(int(task.fingerprint[:8], 16))] if seeded else []
    needs_gpu = re.search(r"""["']cuda\b|\.cuda\(""", oracle.generate) is not None
    gpus = list_gpus() if needs_gpu and gpu is None else []
    with lease_gpu(gpus) if gpus else nullcontext(gpu) as leased:
        scripts = {"gen.py": oracle.generate}
        finished = _run_driver(["script", "gen.py", *seed], scripts, {}, folder, limits, isolation, gpu=leased)
    _check(
        finished,
        what,
        limits,
        hint="; it asks for a CUDA device, and there is none here" if needs_gpu and not leased else "",
    )
    said = finished.stderr.rpartition(EXIT_SAID)
    return f"sys.exit: {one_line(said[2], 500)}" if said[1] else ""


def run_compare(
    task: ProgramTask, oracle: ScriptOracle, files: Mapping[str, Path], limits: Limits, isolation: Isolation
) -> Printed:
    """Run compare.py on read-only files ("data/x.bin" -> host file): inputs, references and outputs.

    Raises OracleStopped at a limit, OracleError when the sandbox fails.
    """
    what = f"task {task.id}: compare.py"
    with oracle_folder() as folder:
        (folder / "data").mkdir()
        scripts = {"compare.py": oracle.compare}
        finished = _run_driver(["script", "compare.py"], scripts, files, folder, limits, isolation)
    if finished.infra is not None or finished.stopped is not None:
        _check(finished, what, limits)
    said = finished.stdout
    verdict = False if "F" in said else True if _TRUE.search(said) else None
    crashed = finished.returncode != 0
    return Printed(verdict, crashed, _last_line(finished.stderr) if crashed else said.strip()[-300:])


def _read_result(file: Path, what: str) -> dict[str, Any]:
    if file.is_symlink() or not file.is_file():
        raise OracleError(f"{what} left no result")
    try:
        return json.loads(file.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise OracleError(f"{what} left a result that is not JSON: {error}") from None


def _run_driver(
    arguments: list[str],
    scripts: Mapping[str, str],
    files: Mapping[str, Path],
    folder: Path,
    limits: Limits,
    isolation: Isolation,
    gpu: Gpu | None = None,
) -> Finished:
    if limits.memory_bytes is None:
        limits = replace(limits, memory_bytes=psutil.virtual_memory().total * 9 // 10)
    with oracle_folder() as aside:  # the scripts lie outside the folder that they may write to
        readonly = {"oracle_driver.py": DRIVER, **files}
        try:
            for name, text in scripts.items():
                (aside / name).write_text(text, encoding="utf-8", newline="\n")
                readonly[name] = aside / name
            return run_sandboxed(
                [sys.executable, "-s", "-B", "oracle_driver.py", *arguments],
                folder=folder,
                readonly=readonly,
                visible=python_paths(),
                limits=limits,
                environment={"PYTHONHASHSEED": "0", "PYTHONPATH": "", "CUSET_STAGE_DISABLE": "1"},
                gpu=gpu,
                isolation=isolation,
            )
        except (SandboxError, OSError) as error:
            raise OracleUnavailable(f"the sandbox failed: {error}") from error


@contextmanager
def oracle_folder() -> Iterator[Path]:
    """A folder that a script may write to, in a scratch folder that holds what it may not."""
    with ExitStack() as stack:
        try:
            folder = stack.enter_context(scratch_folder()) / "work"
            folder.mkdir()
        except (SandboxError, OSError) as error:
            raise OracleUnavailable(f"no folder to work in: {error}") from error
        yield folder


def _check(finished: Finished, what: str, limits: Limits, hint: str = "") -> None:
    if finished.infra is not None:
        raise OracleUnavailable(f"{what} could not be run: {finished.infra}")
    if finished.stopped is not None:
        allowed = {
            "wall": f"{limits.wall_s:g} s",
            "cpu": f"{limits.cpu_s} s of CPU",
            "memory": f"{limits.memory_bytes} bytes of memory",
            "disk": f"{limits.folder_bytes} bytes on disk",
        }
        raise OracleStopped(f"{what} was stopped: over its limit of {allowed.get(finished.stopped, finished.stopped)}")
    if finished.returncode != 0:
        raise OracleError(f"{what} failed (exit code {finished.returncode}): {_last_line(finished.stderr)}{hint}")


def _last_line(text: str) -> str:
    lines = text.strip().splitlines()
    return lines[-1][:500] if lines else "it printed nothing"
