"""Makes a case by the scripts of its oracle, each in the sandbox, in a process and a folder of its own: gen.py, compare.py, a reference."""

import ast
import itertools
import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from difflib import SequenceMatcher
from functools import cache
from pathlib import Path
from typing import Any

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
from ..sandbox.folders import take_output
from ..tasks.base import Case, ProgramTask, ScriptOracle, Task, Tensor
from ..text import one_line
from .script_server import DRIVER, ENVIRONMENT, bounded, run_script


GIB = 2**30
# On 32 cores, importing NumPy takes 3 s of processor time, and a compare.py multiplies no matrices.
ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1"}
ORACLE_LIMITS = Limits(wall_s=600.0, memory_bytes=None, file_bytes=16 * GIB, folder_bytes=32 * GIB, processes=1024)
"""For making inputs and references: the slowest scripts of CUDABench take minutes and the largest writes 8 GiB. Memory: what
the machine has, less a tenth."""
COMPARE_LIMITS = replace(ORACLE_LIMITS, wall_s=300.0)
MAX_CASE_BYTES = 16 * GIB  # of the data of one case
MAX_REFERENCES = MAX_TRIES = 6  # more files than this are not told apart
BROKEN = {"refused": "prints F", "crashed": "stops with a traceback", "silent": "prints neither T nor F"}

_EXIT_SAID = "oracle_driver: sys.exit: "  # as oracle_driver.py prints it
_TRUE = re.compile(r"(?<![A-Za-z])T(?![A-Za-z])")


class OracleError(RuntimeError):
    """A task's oracle failed: its reference cannot be made, its compare.py cannot judge. Never charged to a model.

    Where something of this machine failed (no space, no process), so that another try may work, it is a SandboxError.
    """


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


@dataclass(frozen=True)
class CaseMaker:
    """Makes one case in `work`, an `oracle_folder`, and leaves it in `kept` beside it, out of reach of the scripts.

    seed: what a ReferenceOracle draws inputs from; None: the task's public inputs.
    """

    task: ProgramTask
    case: Case
    work: Path
    limits: Limits
    isolation: Isolation
    seed: int | None = None

    @property
    def kept(self) -> Path:
        return self.work.parent / "kept"

    def make(self) -> dict[str, Any]:
        """Which file is what, by paths in `kept`, as `PreparedCase` has it."""
        self.kept.mkdir()
        return self._run_scripts() if isinstance(self.task.oracle, ScriptOracle) else self._run_reference()

    def _run_reference(self) -> dict[str, Any]:
        task, case = self.task, self.case
        tensors = {name: [asdict(one) for one in getattr(case, name)] for name in ("inputs", "outputs")}
        job = {"id": task.id, "case": case.name, "parameters": dict(case.parameters), "seed": self.seed, **tensors}
        scripts = {"reference.py": task.oracle.source, "job.json": json.dumps(job)}
        finished = run_script(["reference", "job.json"], scripts, self.work, self.limits, self.isolation)
        _check(finished, f"task {task.id}, case {case.name}: the reference", self.limits)
        record: dict[str, Any] = {"references": {}, "self_check": None}
        for key, tensors in (("inputs", case.inputs), ("expected", case.outputs)):
            self._take({f"{key}/{tensor.name}.bin": tensor.nbytes for tensor in tensors})
            record[key] = {tensor.file: f"{key}/{tensor.name}.bin" for tensor in tensors}
        self._take({"tolerance.json": None})
        return {**record, "tolerance": json.loads((self.kept / "tolerance.json").read_bytes())}

    def _run_scripts(self) -> dict[str, Any]:
        ended = run_generate(self.task, self.work, self.limits, self.isolation)
        written = written_files(self.work)
        inputs = {tensor.file: tensor.file for tensor in self.case.inputs}
        if missing := [name for name in inputs if name not in written]:
            how = f"; it ended with {ended}" if ended else ""
            raise OracleError(f"task {self.task.id}: gen.py did not write {', '.join(missing)}{how}")
        check_size(self.task, self.case, written.values())
        self._take(dict.fromkeys(written))
        files = {name: self.kept / name for name in written}
        expected, said = pair_references(
            self.case.outputs,
            {name: path for name, path in files.items() if name not in inputs},
            lambda outputs: run_compare(self.task, files | outputs, self.isolation),
        )
        outputs = {tensor.file for tensor in self.case.outputs}
        return {
            "inputs": inputs,
            "expected": {name: str(path.relative_to(self.kept)) for name, path in expected.items()},
            # A gen.py that writes an output itself must not help a program that writes none.
            "references": {name: name for name in written if name not in inputs and name not in outputs},
            "tolerance": {},
            "self_check": asdict(replace(said, generate_exit=ended)),
        }

    def _take(self, sizes: Mapping[str, int | None]) -> None:
        """Take these files out of the folder that a script could write to."""
        for name, size in sizes.items():
            if refused := take_output(self.work, name, self.kept / name, sizes=() if size is None else (size,)):
                raise OracleError(f"task {self.task.id}, case {self.case.name}: its oracle left {refused.reason}")


def run_generate(task: ProgramTask, folder: Path, limits: Limits, isolation: Isolation, *, seeded: bool = True) -> str:
    """Run gen.py in `folder`; what it writes is in data/. A script that asks for a CUDA device gets one, where there is one.

    seeded: whether a generator that gen.py leaves unseeded (random, numpy.random, numpy's default_rng, torch) starts from a seed of
    the task, so that the data can be made again elsewhere. A script that seeds itself sees no difference.

    Returns "sys.exit: <message>" when that is how it ended, else "": it is no failure, but it may explain what is missing.
    """
    seed = [str(int(task.fingerprint[:8], 16))] if seeded else []
    script = task.oracle.generate
    needs_gpu = re.search(r"""["']cuda\b|\.cuda\(""", script) is not None
    gpus = list_gpus() if needs_gpu else []
    arguments, scripts = ["script", "gen.py", *seed], {"gen.py": script}
    if gpus:
        with lease_gpu(gpus) as gpu:
            (folder / "data").mkdir()
            finished = _run_driver(arguments, scripts, {}, folder, limits, isolation, gpu)
    else:
        finished = run_script(arguments, scripts, folder, limits, isolation)
    lacking = "; it asks for a CUDA device, and there is none here" if needs_gpu and not gpus else ""
    _check(finished, f"task {task.id}: gen.py", limits, lacking)
    said = finished.stderr.rpartition(_EXIT_SAID)
    return f"sys.exit: {one_line(said[2], 500)}" if said[1] else ""


def run_compare(task: ProgramTask, files: Mapping[str, Path], isolation: Isolation) -> Said:
    """Run compare.py on read-only files ("data/x.bin" -> host file): inputs, references and outputs.

    Raises OracleStopped at a limit, SandboxError when the sandbox fails.
    """
    with oracle_folder() as folder:
        (folder / "data").mkdir()
        scripts = {"compare.py": task.oracle.compare}
        finished = _run_driver(["script", "compare.py"], scripts, files, folder, COMPARE_LIMITS, isolation)
    crashed = finished.returncode != 0
    if finished.infra is not None or finished.stopped is not None:
        _check(finished, f"task {task.id}: compare.py", COMPARE_LIMITS)
    said = finished.stdout
    message = last_line(finished.stderr)[:500] if crashed else said.strip()[-300:]
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

    def score(names: Sequence[str]) -> tuple[int, float]:
        """How many references have their output's size, and how alike the names are."""
        pairs = list(zip(outputs, names, strict=True))
        fitting = sum(one.nbytes in (None, references[name].stat().st_size) for one, name in pairs)
        return fitting, sum(SequenceMatcher(None, one.file, name).ratio() for one, name in pairs)

    first: Said | None = None
    if outputs and len(outputs) <= len(references) <= MAX_REFERENCES:
        ranked = sorted(itertools.permutations(references, len(outputs)), key=score, reverse=True)
        for names in ranked[:MAX_TRIES]:
            pairs = {output.file: references[name] for output, name in zip(outputs, names, strict=True)}
            said = compare(pairs)
            if said.passed:
                return pairs, said
            if first is None and score(names)[0] == len(outputs):
                first = said
    names = ", ".join(references) or "none"
    return {}, first or Said("unpaired", f"{len(outputs)} outputs and as references {names}")


def check_size(task: ProgramTask, case: Case, sizes: Iterable[int]) -> int:
    """The sum of the sizes of a case's files. Raises OracleError when that is too much."""
    need = sum(sizes)
    if need > MAX_CASE_BYTES:
        raise OracleError(
            f"task {task.id}, case {case.name}: its data takes {need / GIB:.2f} GiB, more than the "
            f"{MAX_CASE_BYTES / GIB:.2f} GiB that one case may take"
        )
    return need


def preparation_cost(task: Task) -> float:
    """How long making the task's cases may take, in no unit: by the size of its data, or by its square for a gen.py with nested loops of
    Python's own, which may visit each element for each other one. 0 for a module: its inputs are not made ahead."""
    if not isinstance(task, ProgramTask):
        return 0.0
    size = sum(case.nbytes for case in task.cases)
    if isinstance(task.oracle, ScriptOracle) and _has_nested_loops(task.oracle.generate):
        size = (size // 4) ** 2
    return 1.0 + size


@cache  # it is asked for every answer to the task
def _has_nested_loops(source: str) -> bool:
    loop = ast.For | ast.While
    try:
        loops = [node for node in ast.walk(ast.parse(source)) if isinstance(node, loop)]
    except (SyntaxError, ValueError):
        return False
    return any(isinstance(inner, loop) for outer in loops for part in outer.body for inner in ast.walk(part))


def written_files(folder: Path) -> dict[str, int]:
    """The regular files under folder/data, "data/x.bin" -> bytes. Links are not followed, and other kinds left out."""
    files = sorted(path for path in (folder / "data").rglob("*") if not path.is_symlink() and path.is_file())
    return {str(path.relative_to(folder)): path.stat().st_size for path in files}


def _run_driver(
    arguments: list[str],
    scripts: Mapping[str, str],
    files: Mapping[str, Path],
    folder: Path,
    limits: Limits,
    isolation: Isolation,
    gpu: Gpu | None = None,
) -> Finished:
    with oracle_folder() as aside:  # the scripts lie outside the folder that they may write to
        readonly = {"oracle_driver.py": DRIVER, **files}
        for name, text in scripts.items():
            readonly[name] = aside / name
            readonly[name].write_text(text, encoding="utf-8", newline="\n")
        return run_sandboxed(
            [sys.executable, "-s", "-B", "oracle_driver.py", *arguments],
            folder=folder,
            readonly=readonly,
            visible=python_paths(),
            limits=bounded(limits),
            environment=ENVIRONMENT | ONE_THREAD,
            gpu=gpu,
            isolation=isolation,
        )


@contextmanager
def oracle_folder() -> Iterator[Path]:
    """A folder that a script may write to, in a scratch folder that holds what it may not."""
    with scratch_folder() as scratch:
        (scratch / "work").mkdir()
        yield scratch / "work"


def _check(finished: Finished, what: str, limits: Limits, hint: str = "") -> None:
    if finished.infra is not None:
        raise SandboxError(f"{what} could not be run: {finished.infra}")
    if finished.stopped is not None:
        raise OracleStopped(f"{what} {finished.ending(limits)}")
    if finished.returncode != 0:
        said = last_line(finished.stderr)[:500]
        raise OracleError(f"{what} failed (exit code {finished.returncode}): {said}{hint}")


def last_line(text: str) -> str:
    return text.strip().rpartition("\n")[2] or "it printed nothing"
