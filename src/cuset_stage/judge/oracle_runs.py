"""Runs the scripts of an oracle in the sandbox, each in a process and a folder of its own: gen.py, compare.py, a reference."""

import itertools
import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from pathlib import Path

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
from ..tasks.base import Case, ProgramTask, ReferenceOracle, ScriptOracle, Tensor
from ..text import one_line


GIB = 2**30
DRIVER = Path(__file__).with_name("oracle_driver.py")
ORACLE_LIMITS = Limits(wall_s=600.0, memory_bytes=None, file_bytes=16 * GIB, folder_bytes=32 * GIB, processes=1024)
"""For making inputs and references: the slowest scripts of CUDABench take minutes and the largest writes 8 GiB. Memory: what
the machine has, less a tenth."""
COMPARE_LIMITS = replace(ORACLE_LIMITS, wall_s=300.0)
MAX_REFERENCES = MAX_TRIES = 6  # more files than this are not told apart
BROKEN = {"refused": "prints F", "crashed": "stops with a traceback", "silent": "prints neither T nor F"}

_EXIT_SAID = "oracle_driver: sys.exit: "  # as oracle_driver.py prints it
_TRUE = re.compile(r"(?<![A-Za-z])T(?![A-Za-z])")


class OracleError(RuntimeError):
    """The judge's own side failed: a reference that cannot be made or read. Never charged to a model."""


class OracleUnavailable(OracleError):
    """Something of this machine failed, not the task: no space, no process. Another try may work."""


class OracleStopped(OracleError):
    """A script of the task was stopped at one of its limits."""


@dataclass(frozen=True)
class Said:
    """What compare.py says about outputs.

    state: "passed" (a T, no F), "refused" (an F), "crashed" (a traceback, its last line is `message`; also after a T: it may have
    stopped before another output), "silent" (neither); of the references themselves also "unpaired": it is not known which is
    whose. generate_exit: the sys.exit message that gen.py ended with.
    """

    state: str
    message: str
    generate_exit: str = ""

    @property
    def passed(self) -> bool:
        return self.state == "passed"

    @property
    def broken(self) -> bool:
        """Of the references themselves: compare.py does not accept what is right, so what it says of others is worth nothing."""
        return self.state in BROKEN


def run_reference(
    task: ProgramTask, case: Case, oracle: ReferenceOracle, folder: Path, limits: Limits, isolation: Isolation
) -> None:
    """Leave inputs/<name>.bin, expected/<name>.bin and result.json in `folder`."""
    inputs, outputs = (
        [{"name": one.name, "dtype": one.dtype, "shape": list(one.shape)} for one in tensors]
        for tensors in (case.inputs, case.outputs)
    )
    job = {"id": task.id, "case": case.name, "parameters": dict(case.parameters), "inputs": inputs, "outputs": outputs}
    scripts = {"reference.py": oracle.source, "job.json": json.dumps(job)}
    finished = _run_driver(["reference", "job.json"], scripts, {}, folder, limits, isolation)
    _check(finished, f"task {task.id}, case {case.name}: the reference", limits)


def run_generate(
    task: ProgramTask, oracle: ScriptOracle, folder: Path, limits: Limits, isolation: Isolation, *, seeded: bool = True
) -> str:
    """Run gen.py in `folder`; what it writes is in data/. A script that asks for a CUDA device gets one, where there is one.

    seeded: whether a generator that gen.py leaves unseeded (random, numpy.random, numpy's default_rng, torch) starts from a seed of
    the task, so that the data can be made again elsewhere. A script that seeds itself sees no difference.

    Returns "sys.exit: <message>" when that is how it ended, else "": it is no failure, but it may explain what is missing.
    """
    (folder / "data").mkdir()
    seed = [str(int(task.fingerprint[:8], 16))] if seeded else []
    needs_gpu = re.search(r"""["']cuda\b|\.cuda\(""", oracle.generate) is not None
    gpus = list_gpus() if needs_gpu else []
    with lease_gpu(gpus) if gpus else nullcontext() as gpu:
        scripts = {"gen.py": oracle.generate}
        finished = _run_driver(["script", "gen.py", *seed], scripts, {}, folder, limits, isolation, gpu=gpu)
    lacking = "; it asks for a CUDA device, and there is none here" if needs_gpu and not gpus else ""
    _check(finished, f"task {task.id}: gen.py", limits, lacking)
    said = finished.stderr.rpartition(_EXIT_SAID)
    return f"sys.exit: {one_line(said[2], 500)}" if said[1] else ""


def run_compare(
    task: ProgramTask, oracle: ScriptOracle, files: Mapping[str, Path], limits: Limits, isolation: Isolation
) -> Said:
    """Run compare.py on read-only files ("data/x.bin" -> host file): inputs, references and outputs.

    Raises OracleStopped at a limit, OracleError when the sandbox fails.
    """
    with oracle_folder() as folder:
        (folder / "data").mkdir()
        scripts = {"compare.py": oracle.compare}
        finished = _run_driver(["script", "compare.py"], scripts, files, folder, limits, isolation)
    crashed = finished.returncode != 0
    if finished.infra is not None or finished.stopped is not None:
        _check(finished, f"task {task.id}: compare.py", limits)
    said = finished.stdout
    message = _last_line(finished.stderr) if crashed else said.strip()[-300:]
    if "F" in said:
        return Said("refused", message)
    return Said("crashed" if crashed else "passed" if _TRUE.search(said) else "silent", message)


def pair_references(
    outputs: Sequence[Tensor], references: Mapping[str, Path], compare: Callable[[dict[str, Path]], Said]
) -> tuple[dict[str, Path], Said]:
    """({"data/<output>.bin": its reference}, what compare.py says about the references as outputs).

    gen.py names its references as it likes (x_ref.bin, reference.bin, ref_x.bin): the likeliest assignment, by sizes and then by
    names, that compare.py accepts is taken. Without one that passes there are no pairs, since what compare.py refuses is not what is
    right; what it said is then that of the likeliest assignment whose sizes fit.
    """
    first: Said | None = None
    for pairs in _assignments(outputs, references):
        said = compare(pairs)
        if said.passed:
            return pairs, said
        if first is None and _fitting(outputs, pairs.values()) == len(outputs):
            first = said
    names = ", ".join(references) or "none"
    return {}, first or Said("unpaired", f"{len(outputs)} outputs and as references {names}")


def _assignments(outputs: Sequence[Tensor], references: Mapping[str, Path]) -> Iterator[dict[str, Path]]:
    if not outputs or not len(outputs) <= len(references) <= MAX_REFERENCES:
        return

    def score(names: tuple[str, ...]) -> tuple[int, float]:
        alike = (SequenceMatcher(None, one.file, name).ratio() for one, name in zip(outputs, names, strict=True))
        return _fitting(outputs, (references[name] for name in names)), sum(alike)

    ranked = sorted(itertools.permutations(references, len(outputs)), key=score, reverse=True)
    for names in ranked[:MAX_TRIES]:
        yield {output.file: references[name] for output, name in zip(outputs, names, strict=True)}


def _fitting(outputs: Sequence[Tensor], files: Iterable[Path]) -> int:
    """How many files have their output's size."""
    return sum(one.nbytes in (None, file.stat().st_size) for one, file in zip(outputs, files, strict=True))


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
