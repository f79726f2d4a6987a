"""Inputs and right outputs of a task's cases, made once and kept: every sample is judged on the same data.

A case is made by the task set's own scripts (gen.py, compare.py, a reference), each in the sandbox, in a process and a folder of its own; what
an answer wrote is never near. Most of them run in processes that have imported NumPy (and torch) and fork for each script: importing takes
longer than most scripts. A case is then moved into the cache as a whole (sandbox/cache.py), which processes share. manifest.json names its
files with size and time; a file that changed since is noticed and the case is made again.
"""

import ast
import atexit
import functools
import hashlib
import importlib.metadata
import itertools
import json
import os
import re
import shutil
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, replace
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

import psutil

from ..files import file_sha256, is_regular
from ..sandbox import (
    Finished,
    Gpu,
    Isolation,
    Limits,
    SandboxError,
    cache_root,
    lease_gpu,
    list_gpus,
    python_paths,
    run_sandboxed,
    scratch_folder,
)
from ..sandbox.background import BackgroundRun
from ..sandbox.cache import Cache, Held
from ..sandbox.folders import take_output
from ..tasks.base import Case, ProgramTask, ScriptOracle, Tensor


GIB = 2**30
DRIVER = Path(__file__).with_name("oracle_driver.py")
# On 32 cores, importing NumPy takes 3 s of processor time, and a compare.py multiplies no matrices.
ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1"}
ENVIRONMENT = {"PYTHONHASHSEED": "0", "PYTHONPATH": "", "CUSET_STAGE_DISABLE": "1"}
# For making inputs and references: the slowest scripts of CUDABench take minutes and the largest writes 8 GiB. Memory: what the machine
# has, less a tenth.
ORACLE_LIMITS = Limits(wall_s=600.0, memory_bytes=None, file_bytes=16 * GIB, folder_bytes=32 * GIB, processes=1024)
COMPARE_LIMITS = replace(ORACLE_LIMITS, wall_s=300.0)
A_DAY_S = 86400.0  # of a server: each script has its own time limit
BROKEN = {"refused": "prints F", "crashed": "stops with a traceback", "silent": "prints neither T nor F"}

_TRUE = re.compile(r"(?<![A-Za-z])T(?![A-Za-z])")
MAX_REFERENCES = MAX_TRIES = 6  # more files than this are not told apart
FILES = ("inputs", "expected", "references")


class OracleError(RuntimeError):
    """A task's oracle failed: its reference cannot be made, its compare.py cannot judge. Never charged to a model.

    Where something of this machine failed (no space, no process), so that another try may work, it is a SandboxError.
    """


class OracleStopped(OracleError):
    """A script of the task was stopped at one of its limits."""


@dataclass(frozen=True)
class Said:
    """The verdict of compare.py on outputs.

    state: "passed" (a T, no F), "refused" (an F), "crashed" (a traceback, its last line is `message`; also after a T: it may have
    stopped before another output), "silent" (neither); of the references themselves also "unpaired": it is not known which is
    whose.
    """

    state: str
    message: str

    @property
    def passed(self) -> bool:
        return self.state == "passed"

    @property
    def broken(self) -> bool:
        """True if compare.py does not accept the references themselves, so that its verdict on other outputs is worth nothing."""
        return self.state in BROKEN


@dataclass(frozen=True)
class PreparedCase:
    """The files of a case. Keys are what a program sees ("data/x.bin"), values lie in the cache and are read-only.

    expected: the right content of each output; without the outputs of a ScriptOracle whose reference could not be told.
    references: what gen.py wrote beside the inputs, for compare.py. tolerance: output name -> (rtol, atol), of a ReferenceOracle.
    self_check: what compare.py says about the reference itself, of a ScriptOracle. held: what keeps the files in the cache.
    """

    inputs: Mapping[str, Path]
    expected: Mapping[str, Path]
    folder: Path
    references: Mapping[str, Path]
    tolerance: Mapping[str, tuple[float, float]]
    self_check: Said | None
    held: Held | None = None

    @property
    def sha256(self) -> dict[str, str]:
        """SHA-256 of every file, by its path in `folder`."""
        files = {path for kind in (self.inputs, self.expected, self.references) for path in kind.values()}
        return {str(path.relative_to(self.folder)): file_sha256(path) for path in files}

    def sizes(self, output: Tensor) -> tuple[int, ...]:
        """The sizes in bytes that are right for an output: one; two where a row of CUDABench declares one shape and its
        gen.py writes another; none, so that any but 0 may be right, where no size is known."""
        reference = self.expected.get(output.file)
        sizes = [output.nbytes, None if reference is None else reference.stat().st_size]
        return tuple(dict.fromkeys(size for size in sizes if size is not None))


class CaseCache:
    """Cases by content: oracle, case, id, seed, and the versions of the packages that make the data.

    folder: cache_root() / "cases" unless given. limits: of making one case. seed: what inputs are drawn from where a task brings its
    generator, so that an answer cannot know them; None: the public inputs, the same everywhere.
    """

    def __init__(
        self,
        folder: Path | None = None,
        *,
        limits: Limits = ORACLE_LIMITS,
        isolation: Isolation = Isolation.AUTO,
        seed: int | None = None,
    ) -> None:
        self.folder = Path(folder) if folder is not None else cache_root() / "cases"
        self._entries = Cache(self.folder)
        self.limits, self.isolation, self.seed = limits, isolation, seed

    def prepare(self, task: ProgramTask, case: Case) -> PreparedCase:
        """The case's files, made when the cache does not have them. Thread-safe; a gen.py may lease a GPU.

        Raises OracleError when the case cannot be made: with the task, the case and what its script said; SandboxError when that
        is this machine's fault.
        """
        try:
            make = functools.partial(self._make, task, case)
            prepared, held = self._entries.take(self._key(task, case), _read, make)
            return replace(prepared, held=held)
        except OSError as error:
            raise SandboxError(f"task {task.id}, case {case.name}: the cache {self.folder} failed: {error}") from error

    def preparation_cost(self, task: ProgramTask) -> float:
        """How long a task may take, in no unit: by the size of its data; and where that is still to be made by a gen.py with nested loops of
        Python's own, which may visit each element for each other one, by its square."""
        size = sum(case.nbytes for case in task.cases)
        if isinstance(task.oracle, ScriptOracle) and _has_nested_loops(task.oracle.generate):
            made = all(self._entries.place(self._key(task, case)).is_dir() for case in task.cases)
            size = size if made else (size // 4) ** 2
        return 1.0 + size

    def _key(self, task: ProgramTask, case: Case) -> str:
        """Returns the cache key: a hash of all that decides the data, with package versions, since random streams differ between them."""
        seed = self.seed if task.draws_inputs else None
        return hashlib.sha256(json.dumps([task.fingerprint, case.name, seed, _versions(task)]).encode()).hexdigest()

    def _make(self, task: ProgramTask, case: Case, place: Path) -> PreparedCase:
        # a ScriptOracle may write its references beside the outputs
        need = case.nbytes + sum(tensor.nbytes or 0 for tensor in case.outputs)
        self._entries.make_room(need, f"task {task.id}, case {case.name}")
        with oracle_folder() as work:
            kept = work.parent / "kept"  # out of reach of the scripts
            kept.mkdir()
            make = self._run_scripts if isinstance(task.oracle, ScriptOracle) else self._run_reference
            record = make(task, case, work, kept) | {"task": task.id, "case": case.name, "versions": _versions(task)}
            with self._entries.new(place) as making:
                files = {}
                for name in {file for key in FILES for file in record[key].values()}:
                    path = making / name
                    path.parent.mkdir(parents=True, exist_ok=True)
                    shutil.move(kept / name, path)  # the cache may be on another disk than the scratch folder
                    path.chmod(0o444)
                    status = path.stat()
                    files[name] = {"bytes": status.st_size, "mtime_ns": status.st_mtime_ns}
                text = json.dumps(record | {"files": files}, indent=1)
                (making / "manifest.json").write_text(text, encoding="utf-8")
        if prepared := _read(place):
            return prepared
        raise SandboxError(f"task {task.id}, case {case.name}: {place} changes while it is read")

    def _run_reference(self, task: ProgramTask, case: Case, work: Path, kept: Path) -> dict[str, Any]:
        """Make a case by its ReferenceOracle, into `kept`. Returns which file is what, by paths in `kept`, as `PreparedCase` has it."""
        tensors = {name: [asdict(tensor) for tensor in getattr(case, name)] for name in ("inputs", "outputs")}
        job = {"id": task.id, "case": case.name, "parameters": dict(case.parameters), "seed": self.seed, **tensors}
        scripts = {"reference.py": task.oracle.source, "job.json": json.dumps(job)}
        finished = run_script(["reference", "job.json"], scripts, work, self.limits, self.isolation)
        check_finished(finished, f"task {task.id}, case {case.name}: the reference", self.limits)
        record: dict[str, Any] = {"references": {}, "self_check": None}
        for key, tensors in (("inputs", case.inputs), ("expected", case.outputs)):
            record[key] = {tensor.file: f"{key}/{tensor.name}.bin" for tensor in tensors}
            _take(task, case, work, kept, {record[key][tensor.file]: tensor.nbytes for tensor in tensors})
        _take(task, case, work, kept, {"tolerance.json": None})
        return {**record, "tolerance": json.loads((kept / "tolerance.json").read_bytes())}

    def _run_scripts(self, task: ProgramTask, case: Case, work: Path, kept: Path) -> dict[str, Any]:
        """Make a case by its ScriptOracle; returns what `_run_reference` returns."""
        run_generate(task, work, self.limits, self.isolation)
        written = written_files(work)
        inputs = {tensor.file: tensor.file for tensor in case.inputs}
        if missing := [name for name in inputs if name not in written]:
            raise OracleError(f"task {task.id}: gen.py did not write {', '.join(missing)}")
        _take(task, case, work, kept, dict.fromkeys(written))
        files = {name: kept / name for name in written}
        expected, said = pair_references(
            case.outputs,
            {name: path for name, path in files.items() if name not in inputs},
            lambda outputs: run_compare(task, files | outputs, self.isolation),
        )
        outputs = {tensor.file for tensor in case.outputs}
        return {
            "inputs": inputs,
            "expected": {name: str(path.relative_to(kept)) for name, path in expected.items()},
            # A gen.py that writes an output itself must not help a program that writes none.
            "references": {name: name for name in written if name not in inputs and name not in outputs},
            "tolerance": {},
            "self_check": asdict(said),
        }


def _take(task: ProgramTask, case: Case, work: Path, kept: Path, sizes: Mapping[str, int | None]) -> None:
    """Move these files, of so many bytes (None: any), out of the folder that a script could write to."""
    for name, size in sizes.items():
        if refused := take_output(work, name, kept / name, sizes=() if size is None else (size,)):
            raise OracleError(f"task {task.id}, case {case.name}: its oracle left {refused.reason}")


def _read(place: Path) -> PreparedCase | None:
    """None when the case is not there, or is not what its manifest says."""
    try:
        record = json.loads((place / "manifest.json").read_text(encoding="utf-8"))
        for name, entry in record["files"].items():
            status = (place / name).stat()
            if (status.st_size, status.st_mtime_ns) != (entry["bytes"], entry["mtime_ns"]):
                return None
    except (OSError, ValueError, KeyError, TypeError):
        return None
    said = record["self_check"]
    files = {key: {name: place / file for name, file in record[key].items()} for key in FILES}
    return PreparedCase(
        **files,
        folder=place,
        tolerance={name: (rtol, atol) for name, (rtol, atol) in record["tolerance"].items()},
        self_check=said and Said(said["state"], said["message"]),
    )


def _versions(task: ProgramTask) -> dict[str, str]:
    script = task.oracle.generate if isinstance(task.oracle, ScriptOracle) else ""
    names = {"numpy": "", "torch": "torch", "scipy": "scipy", "pillow": "PIL"}  # package -> what a script imports
    return {package: _version(package) for package, name in names.items() if name in script}


@functools.cache  # it reads a file of the package's each time
def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "none"


def pair_references(
    outputs: Sequence[Tensor], references: Mapping[str, Path], compare: Callable[[dict[str, Path]], Said]
) -> tuple[dict[str, Path], Said]:
    """({"data/<output>.bin": its reference}, what compare.py says about the references as outputs).

    gen.py names its references as it likes (x_ref.bin, reference.bin, ref_x.bin): the likeliest assignment, by sizes and then by
    names, that compare.py accepts is taken. Without one that passes there are no pairs, since what compare.py refuses is not what is
    right; what it said is then that of the likeliest assignment whose sizes fit.
    """

    def score(names: Sequence[str]) -> tuple[int, float]:
        """Returns how many references have their output's size, and how alike the names are."""
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


def _has_nested_loops(source: str) -> bool:
    loop = ast.For | ast.While
    try:
        loops = [node for node in ast.walk(ast.parse(source)) if isinstance(node, loop)]
    except (SyntaxError, ValueError):
        return False
    return any(isinstance(inner, loop) for outer in loops for part in outer.body for inner in ast.walk(part))


# ---- scripts


def run_generate(
    task: ProgramTask, folder: Path, limits: Limits, isolation: Isolation, *, seeded: bool = True
) -> None:
    """Run gen.py in `folder`; what it writes is in data/. A script that asks for a CUDA device gets one, where there is one.

    seeded: whether a generator that gen.py leaves unseeded (random, numpy.random, numpy's default_rng, torch) starts from a seed of
    the task, so that the data can be made again elsewhere. A script that seeds itself sees no difference.
    """
    seed = [str(int(task.fingerprint[:8], 16))] if seeded else []
    script = task.oracle.generate
    needs_gpu = re.search(r"""["']cuda\b|\.cuda\(""", script) is not None
    gpus = list_gpus() if needs_gpu else []
    if gpus:
        with lease_gpu(gpus) as gpu:
            finished = _run_alone("gen.py", script, {}, folder, limits, isolation, seed, gpu)
    else:
        finished = run_script(["script", "gen.py", *seed], {"gen.py": script}, folder, limits, isolation)
    lacking = "; it asks for a CUDA device, and there is none here" if needs_gpu and not gpus else ""
    check_finished(finished, f"task {task.id}: gen.py", limits, lacking)


def run_compare(task: ProgramTask, files: Mapping[str, Path], isolation: Isolation) -> Said:
    """Run compare.py on read-only files ("data/x.bin" -> host file): inputs, references and outputs.

    Raises OracleStopped at a limit, SandboxError when the sandbox fails.
    """
    with oracle_folder() as folder:
        finished = _run_alone("compare.py", task.oracle.compare, files, folder, COMPARE_LIMITS, isolation)
    crashed = finished.returncode != 0
    if finished.infra is not None or finished.stopped is not None:
        check_finished(finished, f"task {task.id}: compare.py", COMPARE_LIMITS)
    said = finished.stdout
    message = last_line(finished.stderr)[:500] if crashed else said.strip()[-300:]
    if "F" in said:
        return Said("refused", message)
    return Said("crashed" if crashed else "passed" if _TRUE.search(said) else "silent", message)


def written_files(folder: Path) -> list[str]:
    """The regular files under folder/data, as "data/x.bin". Links are not followed, and other kinds left out."""
    files = sorted(path for path in (folder / "data").rglob("*") if is_regular(path))
    return [str(path.relative_to(folder)) for path in files]


def _run_alone(
    name: str,
    script: str,
    files: Mapping[str, Path],
    folder: Path,
    limits: Limits,
    isolation: Isolation,
    arguments: Sequence[str] = (),
    gpu: Gpu | None = None,
) -> Finished:
    """Run a script in a process that does not outlive it: for those that read files of the host or use a GPU, which no server can give."""
    (folder / "data").mkdir()
    with oracle_folder() as aside:  # the script lies outside the folder that it may write to
        (aside / name).write_text(script, encoding="utf-8", newline="\n")
        return run_sandboxed(
            [sys.executable, "-s", "-B", "oracle_driver.py", "script", name, *arguments],
            folder=folder,
            readonly={"oracle_driver.py": DRIVER, **files, name: aside / name},
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


def check_finished(finished: Finished, what: str, limits: Limits, hint: str = "") -> None:
    """Raise SandboxError, OracleStopped or OracleError for a script that did not end with 0. what: the script, as the message names it."""
    if finished.infra is not None:
        raise SandboxError(f"{what} could not be run: {finished.infra}")
    if finished.stopped is not None:
        raise OracleStopped(f"{what} {finished.ending(limits)}")
    if finished.returncode != 0:
        said = last_line(finished.stderr)[:500]
        raise OracleError(f"{what} failed (exit code {finished.returncode}): {said}{hint}")


def last_line(text: str) -> str:
    return text.strip().rpartition("\n")[2] or "it printed nothing"


def bounded(limits: Limits) -> Limits:
    """Returns the limits, with nine tenths of the machine's memory where they set no limit on memory."""
    return limits if limits.memory_bytes else replace(limits, memory_bytes=psutil.virtual_memory().total * 9 // 10)


class ScriptServer:
    """A process that forks for scripts: one at a time, each in a folder of its own and ended with all that it started."""

    def __init__(self, limits: Limits, isolation: Isolation) -> None:
        self.limits = limits
        self._folders = ExitStack()
        self._folder = self._folders.enter_context(scratch_folder()) / "work"
        self._folder.mkdir()
        self._process = BackgroundRun(
            [sys.executable, "-s", "-B", "oracle_driver.py", "serve"],
            folder=self._folder,
            readonly={"oracle_driver.py": DRIVER},
            visible=python_paths(),
            limits=replace(bounded(limits), wall_s=A_DAY_S),
            environment=ENVIRONMENT,
            isolation=isolation,
        )
        self._process.start()
        self._channel = self._process.socket
        self._answers = self._channel.makefile("rb")
        atexit.register(self.close)
        self._scripts = 0

    def run(self, arguments: Sequence[str], scripts: Mapping[str, str], work: Path) -> Finished:
        """Run the driver with these arguments beside these files. `work`, an empty folder, is replaced by the one in which it ran."""
        self._scripts += 1
        name = str(self._scripts)
        request = {"folder": name, "arguments": list(arguments), "files": dict(scripts)}
        answer, late = b"", False
        try:
            self._channel.settimeout(self.limits.wall_s)
            self._channel.sendall(json.dumps(request).encode() + b"\n")
            answer = self._answers.readline()
        except TimeoutError:
            late = True
        except OSError:
            pass  # it has ended
        if not answer.endswith(b"\n"):
            ended = self.close(0.0 if late else 5.0)  # so that what ended it is known
            return Finished(stopped="wall") if late else ended
        os.rename(self._folder / name, work)
        return Finished(**json.loads(answer))

    @property
    def alive(self) -> bool:
        return self._process.alive

    def close(self, patience_s: float = 0.0) -> Finished:
        """End it, unless it does so by itself within these seconds; how it ended."""
        atexit.unregister(self.close)
        ended = self._process.end(patience_s)
        self._answers.close()
        self._channel.close()
        self._folders.close()
        return ended


_idle: defaultdict[object, list[ScriptServer]] = defaultdict(list)  # by what they were made for
os.register_at_fork(after_in_child=_idle.clear)  # they are the parent's


def run_script(
    arguments: Sequence[str], scripts: Mapping[str, str], work: Path, limits: Limits, isolation: Isolation
) -> Finished:
    """`ScriptServer.run` in one that has nothing to do, or a new one; scripts with torch, which takes seconds to import, have theirs."""
    idle = _idle[limits, isolation, any("torch" in text for text in scripts.values())]
    try:
        while not (server := idle.pop()).alive:  # it was ended while it had nothing to do
            server.close()
    except IndexError:
        server = ScriptServer(limits, isolation)
    finished = server.run(arguments, scripts, work)
    if server.alive:
        idle.append(server)
    return finished
