"""Make the inputs and the right outputs of a task's cases, and keep them in a cache.

Each case is made once, so every sample of a task is judged on the same data. The task set's own scripts make it:
gen.py and compare.py, or a reference in Python. Each script runs in the sandbox, in a process and a folder of its own,
and never sees a file that an answer wrote.

Most scripts run in a server process that has already imported NumPy (and torch) and forks for each script, because
importing takes longer than most scripts.

A finished case is moved into the cache as a whole (sandbox/cache.py). Processes share this cache. The case's
manifest.json lists its files with size and modification time. If a file has changed since, the case is made again.
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
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import asdict, dataclass, replace
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

import psutil

from ..files import file_sha256, is_regular
from ..sandbox import Finished, Isolation, Limits, SandboxError, python_paths, run_sandboxed
from ..sandbox.background import BackgroundRun
from ..sandbox.cache import Cache, Held
from ..sandbox.folders import cache_root, lack_of_room, scratch_folder, take_output
from ..sandbox.gpus import Gpu, lease_gpu, list_gpus
from ..tasks.base import Case, ProgramTask, ScriptOracle, Tensor


GIB = 2**30
DRIVER = Path(__file__).with_name("oracle_driver.py")
# On 32 cores, importing NumPy takes 3 s of processor time. A compare.py multiplies no matrices, so one thread is
# enough for it.
ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1"}
ENVIRONMENT = {"PYTHONHASHSEED": "0", "PYTHONPATH": "", "CUSET_STAGE_DISABLE": "1"}
MEMORY = psutil.virtual_memory().total * 9 // 10
# Limits for making inputs and references. The slowest scripts of CUDABench take minutes, and the largest writes 8 GiB.
ORACLE_LIMITS = Limits(wall_s=600.0, memory_bytes=MEMORY, file_bytes=16 * GIB, folder_bytes=32 * GIB, processes=1024)
COMPARE_LIMITS = replace(ORACLE_LIMITS, wall_s=300.0)
A_DAY_S = 86400.0  # time limit of a server process; each script in it has its own time limit
BROKEN = {"refused": "prints F", "crashed": "stops with a traceback", "silent": "prints neither T nor F"}

_TRUE = re.compile(r"(?<![A-Za-z])T(?![A-Za-z])")
# With more reference files than this, no pairing is tried. Of fewer, at most this many assignments are tried.
MAX_REFERENCES = MAX_TRIES = 6
FILES = ("inputs", "expected", "references")


class OracleError(RuntimeError):
    """The oracle of a task failed: its reference cannot be made, or its compare.py cannot judge.

    A model is never charged for it. If the machine is the cause (no disk space, no process), a `SandboxError` is
    raised instead, because another try may then work.
    """


class OracleStopped(OracleError):
    """A script of the task was stopped because it reached one of its limits."""


@dataclass(frozen=True)
class Said:
    """The verdict of compare.py on outputs.

    Attributes:
        state: "passed" if compare.py printed a T and no F, "refused" if it printed an F, "silent" if it printed
            neither. "crashed" if it ended with a traceback without printing an F. This holds after a T as well,
            because it may have stopped before checking another output. The references themselves can also be
            "unpaired": it is not known which reference belongs to which output.
        message: The last line of standard error if compare.py failed, else the end of what it printed. For "unpaired",
            the number of outputs and the names of the references.
    """

    state: str
    message: str

    @property
    def passed(self) -> bool:
        return self.state == "passed"

    @property
    def broken(self) -> bool:
        """True if compare.py does not accept the references. Its verdict on other outputs is then worth nothing."""
        return self.state in BROKEN


@dataclass(frozen=True)
class PreparedCase:
    """The files of one case.

    In the mappings of files, keys are the paths that a program sees ("data/x.bin"). Values are read-only files in the
    cache.

    Attributes:
        inputs: The input files.
        expected: The right content of each output. Outputs of a ScriptOracle whose reference could not be identified
            are missing.
        folder: The case's folder in the cache.
        references: Files that gen.py wrote beside the inputs, for compare.py.
        tolerance: Output name -> (rtol, atol). Only for a ReferenceOracle.
        self_check: Verdict of compare.py on the references themselves. Only for a ScriptOracle, else None.
        held: Lock that keeps the files in the cache.
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
        """Return the SHA-256 of every file, keyed by its path relative to `folder`."""
        files = {path for kind in (self.inputs, self.expected, self.references) for path in kind.values()}
        return {str(path.relative_to(self.folder)): file_sha256(path) for path in files}

    def sizes(self, output: Tensor) -> tuple[int, ...]:
        """Return the sizes in bytes that are accepted for an output.

        Usually this is one size. There are two if a row of CUDABench declares one shape and its gen.py writes another.
        The tuple is empty if no size is known. Any size but 0 may then be right.
        """
        reference = self.expected.get(output.file)
        sizes = [output.nbytes, None if reference is None else reference.stat().st_size]
        return tuple(dict.fromkeys(size for size in sizes if size is not None))


@dataclass(eq=False)
class CaseCache:
    """Cache of prepared cases.

    The key of an entry covers all that decides the data: oracle, case, task id, seed, and the versions of the packages
    that make the data.

    Args:
        folder: Folder of the cache, `cache_root() / "cases"` by default.
        limits: Limits for making one case.
        seed: Seed from which inputs are drawn if the task brings its generator, so that an answer cannot know them.
            None means the public inputs, which are the same everywhere.
    """

    folder: Path | None = None
    limits: Limits = ORACLE_LIMITS
    isolation: Isolation = Isolation.AUTO
    seed: int | None = None

    def __post_init__(self) -> None:
        self.folder = Path(self.folder or cache_root() / "cases")
        self._entries = Cache(self.folder)

    def prepare(self, task: ProgramTask, case: Case) -> PreparedCase:
        """Return the files of a case. They are made if the cache does not have them.

        This method is thread-safe. A gen.py that asks for a CUDA device leases a GPU.

        Raises:
            OracleError: The case cannot be made. The message names the task, the case and the script's error.
            SandboxError: The case cannot be made because of this machine.
        """
        try:
            make = functools.partial(self._make, task, case)
            prepared, held = self._entries.take(self._key(task, case), _read, make)
            return replace(prepared, held=held)
        except OSError as error:
            raise SandboxError(f"task {task.id}, case {case.name}: the cache {self.folder} failed: {error}") from error

    def preparation_cost(self, task: ProgramTask) -> float:
        """Estimate how long preparing a task takes, in no particular unit. See `Judge.preparation_cost`.

        The estimate grows with the size of the data. It grows with the square of the size if the data must still be
        made by a gen.py with nested Python loops, because these may visit every pair of elements.
        """
        size = sum(case.nbytes for case in task.cases)
        if isinstance(task.oracle, ScriptOracle) and _has_nested_loops(task.oracle.generate):
            made = all(self._entries.place(self._key(task, case)).is_dir() for case in task.cases)
            size = size if made else (size // 4) ** 2
        return 1.0 + size

    def _key(self, task: ProgramTask, case: Case) -> str:
        """Return the cache key. It covers package versions because these can have different random streams."""
        seed = self.seed if task.draws_inputs else None
        return hashlib.sha256(json.dumps([task.fingerprint, case.name, seed, _versions(task)]).encode()).hexdigest()

    def _make(self, task: ProgramTask, case: Case, place: Path) -> PreparedCase:
        # The outputs count as well: a ScriptOracle may write a reference for each of them.
        need = case.nbytes + sum(tensor.nbytes or 0 for tensor in case.outputs)
        self._entries.make_room(need, f"task {task.id}, case {case.name}")
        with oracle_folder(need) as work:
            kept = work.parent / "kept"  # outside the folder that the scripts can write to
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
        """Make a case with its ReferenceOracle and move its files into `kept`.

        Returns:
            The record for the manifest. It has the fields of `PreparedCase`, with files as paths relative to `kept`.
        """
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
        """Make a case with its ScriptOracle. Return the same record as `_run_reference`."""
        stderr = self.run_generate(task, work)
        written = written_files(work)
        inputs = {tensor.file: tensor.file for tensor in case.inputs}
        if missing := [name for name in inputs if name not in written]:
            said = last_line(stderr)[:500]
            raise OracleError(f"task {task.id}: gen.py did not write {', '.join(missing)}: {said}")
        _take(task, case, work, kept, dict.fromkeys(written))
        files = {name: kept / name for name in written}
        expected, verdict = pair_references(
            case.outputs,
            {name: path for name, path in files.items() if name not in inputs},
            lambda outputs: run_compare(task, files | outputs, self.isolation),
        )
        outputs = {tensor.file for tensor in case.outputs}
        return {
            "inputs": inputs,
            "expected": {name: str(path.relative_to(kept)) for name, path in expected.items()},
            # Outputs are left out: if gen.py writes an output itself, this must not help a program that writes none.
            "references": {name: name for name in written if name not in inputs and name not in outputs},
            "tolerance": {},
            "self_check": asdict(verdict),
        }

    def run_generate(self, task: ProgramTask, folder: Path, *, seeded: bool = True) -> str:
        """Run gen.py in `folder`, within the limits of this cache. It writes its files to data/.

        A script that asks for a CUDA device gets one if the machine has one.

        Args:
            task: The task, with a ScriptOracle.
            folder: Empty folder in which the script runs.
            seeded: If true, random generators that gen.py leaves unseeded (random, numpy.random, NumPy's default_rng,
                torch) start from a seed of the task, so that the data can be made again elsewhere. A script that seeds
                itself sees no difference.

        Returns:
            What it wrote to stderr.

        Raises:
            OracleError: The script failed, or reached a limit (OracleStopped).
            SandboxError: The sandbox failed.
        """
        seed = [str(int(task.fingerprint[:8], 16))] if seeded else []
        arguments, script = ["script", "gen.py", *seed], task.oracle.generate
        needs_gpu = re.search(r"""["']cuda\b|\.cuda\(""", script) is not None
        gpus = list_gpus() if needs_gpu else []
        with lease_gpu(gpus) if gpus else nullcontext() as gpu:
            finished = run_script(arguments, {"gen.py": script}, folder, self.limits, self.isolation, gpu=gpu)
        lacking = "; it asks for a CUDA device, and there is none here" if needs_gpu and not gpus else ""
        check_finished(finished, f"task {task.id}: gen.py", self.limits, lacking)
        return finished.stderr


def _take(task: ProgramTask, case: Case, work: Path, kept: Path, sizes: Mapping[str, int | None]) -> None:
    """Move files from `work`, which a script could write to, into `kept`.

    `sizes` maps each file to its size in bytes, or to None for any size.
    """
    for name, size in sizes.items():
        if refused := take_output(work, name, kept / name, sizes=() if size is None else (size,)):
            raise OracleError(f"task {task.id}, case {case.name}: its oracle left {refused.reason}")


def _read(place: Path) -> PreparedCase | None:
    """Read a case from the cache. Return None if it is missing or does not match its manifest."""
    try:
        record = json.loads((place / "manifest.json").read_text(encoding="utf-8"))
        for name, entry in record["files"].items():
            status = (place / name).stat()
            if (status.st_size, status.st_mtime_ns) != (entry["bytes"], entry["mtime_ns"]):
                return None
    except (OSError, ValueError, KeyError, TypeError):
        return None
    self_check = record["self_check"]
    files = {key: {name: place / file for name, file in record[key].items()} for key in FILES}
    return PreparedCase(
        **files,
        folder=place,
        tolerance={name: (rtol, atol) for name, (rtol, atol) in record["tolerance"].items()},
        self_check=self_check and Said(self_check["state"], self_check["message"]),
    )


def _versions(task: ProgramTask) -> dict[str, str]:
    script = task.oracle.generate if isinstance(task.oracle, ScriptOracle) else ""
    names = {"numpy": "", "torch": "torch", "scipy": "scipy", "pillow": "PIL"}  # package -> what a script imports
    return {package: _version(package) for package, name in names.items() if name in script}


@functools.cache  # each look-up reads a file of the package
def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "none"


def pair_references(
    outputs: Sequence[Tensor], references: Mapping[str, Path], compare: Callable[[dict[str, Path]], Said]
) -> tuple[dict[str, Path], Said]:
    """Find out which reference belongs to which output.

    gen.py is free in how it names its references (x_ref.bin, reference.bin, ref_x.bin). Possible assignments are
    ranked by sizes and then by similarity of names. The first one that compare.py accepts is taken.

    Args:
        outputs: The outputs of the case.
        references: Name -> file of each candidate.
        compare: Runs compare.py on these output files.

    Returns:
        The pairs, as {"data/<output>.bin": its reference}, and the verdict of compare.py on the references as outputs.
        If no assignment passes there are no pairs, because what compare.py refuses is not the right output. The
        verdict is then the one on the likeliest assignment with fitting sizes.
    """

    def score(names: Sequence[str]) -> tuple[int, float]:
        """Return how many references have the size of their output, and how similar the names are."""
        pairs = list(zip(outputs, names, strict=True))
        fitting = sum(one.nbytes in (None, references[name].stat().st_size) for one, name in pairs)
        return fitting, sum(SequenceMatcher(None, one.file, name).ratio() for one, name in pairs)

    first: Said | None = None
    if outputs and len(outputs) <= len(references) <= MAX_REFERENCES:
        ranked = sorted(itertools.permutations(references, len(outputs)), key=score, reverse=True)
        for names in ranked[:MAX_TRIES]:
            pairs = {output.file: references[name] for output, name in zip(outputs, names, strict=True)}
            verdict = compare(pairs)
            if verdict.passed:
                return pairs, verdict
            if first is None and score(names)[0] == len(outputs):
                first = verdict
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


def run_compare(task: ProgramTask, files: Mapping[str, Path], isolation: Isolation) -> Said:
    """Run compare.py on inputs, references and outputs, and return its verdict.

    Args:
        task: The task, with a ScriptOracle.
        files: "data/x.bin" -> file on the host. The script sees them read-only.

    Raises:
        OracleStopped: The script reached a limit.
        SandboxError: The sandbox failed.
    """
    with oracle_folder() as folder:
        scripts = {"compare.py": task.oracle.compare}
        finished = run_script(["script", "compare.py"], scripts, folder, COMPARE_LIMITS, isolation, files=files)
        crashed = finished.returncode != 0
        if finished.infra is not None or finished.stopped is not None:
            check_finished(finished, f"task {task.id}: compare.py", COMPARE_LIMITS)
        printed = finished.stdout
        message = last_line(finished.stderr)[:500] if crashed else printed.strip()[-300:]
        if "F" in printed:
            return Said("refused", message)
        if not crashed and _TRUE.search(printed):
            return Said("passed", message)
        state = "crashed" if crashed else "silent"
        if lacking := lack_of_room(folder):  # what it printed may be lost
            raise SandboxError(f"task {task.id}: compare.py {BROKEN[state]} ({message}); {lacking}")
        return Said(state, message)


def written_files(folder: Path) -> list[str]:
    """List the regular files under folder/data, as "data/x.bin". Links and other kinds of files are left out."""
    files = sorted(path for path in (folder / "data").rglob("*") if is_regular(path))
    return [str(path.relative_to(folder)) for path in files]


@contextmanager
def oracle_folder(need: int = 0) -> Iterator[Path]:
    """Yield a folder in which a script may write `need` bytes. Its parent is a scratch folder for files that it must not change.

    Raises:
        SandboxError: In place of an OracleError of the block, if a full disk may be its cause.
    """
    with scratch_folder() as scratch:
        (scratch / "work").mkdir()
        try:
            yield scratch / "work"
        except OracleError as error:
            if lacking := lack_of_room(scratch, need):
                raise SandboxError(f"{error}; {lacking}") from error
            raise


def check_finished(finished: Finished, what: str, limits: Limits, hint: str = "") -> None:
    """Check that a script ended with exit code 0, else say what failed, and the hint if it was the script itself.

    Raises:
        SandboxError: The sandbox failed.
        OracleStopped: The script reached a limit.
        OracleError: The script ended with another exit code.
    """
    if finished.infra is not None:
        raise SandboxError(f"{what} could not be run: {finished.infra}")
    if finished.stopped is not None:
        raise OracleStopped(f"{what} {finished.ending(limits)}")
    if finished.returncode != 0:
        stderr_end = last_line(finished.stderr)[:500]
        raise OracleError(f"{what} failed (exit code {finished.returncode}): {stderr_end}{hint}")


def last_line(text: str) -> str:
    return text.strip().rpartition("\n")[2] or "it printed nothing"


class ScriptServer:
    """A sandboxed process that runs scripts in forks of itself (`oracle_driver.py serve`).

    It runs one script at a time, each in a folder of its own. When a script ends, all processes that it started are
    ended as well.

    Args:
        limits: Limits of the process. `wall_s` is the time limit of each script.
    """

    def __init__(self, limits: Limits, isolation: Isolation) -> None:
        self.limits = limits
        self._folders = ExitStack()
        self._folder = self._folders.enter_context(oracle_folder())
        self._process = BackgroundRun(
            [sys.executable, "-s", "-B", "oracle_driver.py", "serve"],
            folder=self._folder,
            readonly={"oracle_driver.py": DRIVER},
            visible=python_paths(),
            limits=replace(limits, wall_s=A_DAY_S),
            environment=ENVIRONMENT,
            isolation=isolation,
        )
        self._process.start()
        self._channel = self._process.socket
        self._answers = self._channel.makefile("rb")
        atexit.register(self.close)
        self._scripts = 0

    def run(self, arguments: Sequence[str], scripts: Mapping[str, str], work: Path) -> Finished:
        """Run the driver once, in a fork.

        Args:
            arguments: Arguments of oracle_driver.py.
            scripts: Name -> text of files to write into its folder first.
            work: An empty folder. It is replaced by the folder in which the driver ran.

        Returns:
            How the run ended. If the whole process ended or was late, the server is closed.
        """
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
            pass  # the process has ended; `close` below finds out why
        if not answer.endswith(b"\n"):
            ended = self.close(0.0 if late else 5.0)  # wait, so that the reason of its end becomes known
            return Finished(stopped="wall") if late else ended
        os.rename(self._folder / name, work)
        return Finished(**json.loads(answer))

    @property
    def alive(self) -> bool:
        return self._process.alive

    def close(self, patience_s: float = 0.0) -> Finished:
        """End the process if it does not end by itself within `patience_s` seconds. Return how it ended."""
        atexit.unregister(self.close)
        ended = self._process.end(patience_s)
        self._answers.close()
        self._channel.close()
        self._folders.close()
        return ended


_idle: defaultdict[object, list[ScriptServer]] = defaultdict(list)  # by (limits, isolation, whether with torch)
os.register_at_fork(after_in_child=_idle.clear)  # the servers belong to the parent process


def run_script(
    arguments: Sequence[str],
    scripts: Mapping[str, str],
    work: Path,
    limits: Limits,
    isolation: Isolation,
    *,
    files: Mapping[str, Path] | None = None,
    gpu: Gpu | None = None,
) -> Finished:
    """Run a script in the sandbox.

    It runs in an idle `ScriptServer` or a new one. Scripts that use torch have servers of their own, because torch
    takes seconds to import. A script that reads files of the host or uses a GPU runs in a process of its own, because
    a server cannot give it these.

    Args:
        arguments: Arguments of oracle_driver.py.
        scripts: Name -> text of the script and of what it reads.
        work: Empty folder in which it runs.
        files: "data/x.bin" -> file on the host. The script sees them read-only.
        gpu: The GPU that the script may use.
    """
    if files is not None or gpu is not None:
        (work / "data").mkdir()
        with oracle_folder() as aside:  # the script lies outside the folder that it may write to
            for name, text in scripts.items():
                (aside / name).write_text(text, encoding="utf-8", newline="\n")
            return run_sandboxed(
                [sys.executable, "-s", "-B", "oracle_driver.py", *arguments],
                folder=work,
                readonly={"oracle_driver.py": DRIVER, **(files or {}), **{name: aside / name for name in scripts}},
                visible=python_paths(),
                limits=limits,
                environment=ENVIRONMENT | ONE_THREAD,
                gpu=gpu,
                isolation=isolation,
            )
    idle = _idle[limits, isolation, any("torch" in text for text in scripts.values())]
    try:
        while not (server := idle.pop()).alive:  # something ended this server while it was idle
            server.close()
    except IndexError:
        server = ScriptServer(limits, isolation)
    finished = server.run(arguments, scripts, work)
    if server.alive:
        idle.append(server)
    return finished
