"""Inputs and right outputs of a task's cases, made once and kept: every sample is judged on the same data.

A case is made in the sandbox (oracle_runs.py) and moved into the cache as a whole (sandbox/cache.py), which processes share.
manifest.json names its files with size and time; a file that changed since is noticed and the case is made again.
"""

import functools
import hashlib
import importlib.metadata
import json
import shutil
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ..files import file_sha256
from ..sandbox import Isolation, Limits, SandboxError, cache_root
from ..sandbox.cache import Cache, Held
from ..tasks.base import Case, ProgramTask, ScriptOracle, Tensor
from .oracle_runs import ORACLE_LIMITS, CaseMaker, OracleError, Said, check_size, oracle_folder


FILES = ("inputs", "expected", "references")


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
        """Of every file, by its path in `folder`."""
        files = {path for kind in (self.inputs, self.expected, self.references) for path in kind.values()}
        return {str(path.relative_to(self.folder)): file_sha256(path) for path in files}

    def sizes(self, output: Tensor) -> tuple[int, ...]:
        """The sizes in bytes that are right for an output: one; two where a row of CUDABench declares one shape and its
        gen.py writes another; none, so that any but 0 may be right, where no size is known."""
        reference = self.expected.get(output.file)
        known = [output.nbytes, None if reference is None else reference.stat().st_size]
        return tuple(dict.fromkeys(size for size in known if size is not None))


class CaseCache:
    """Cases by content: oracle, case, id, seed, and the versions of the packages that make the data.

    folder: cache_root() / "cases" unless given. limits: of making one case. seed: what inputs are drawn from where a task brings its
    generator, so that an answer cannot know them; None: the public inputs, the same everywhere. limit: bytes that the cases may take,
    see `Cache`.
    """

    def __init__(
        self,
        folder: Path | None = None,
        *,
        limits: Limits = ORACLE_LIMITS,
        isolation: Isolation = Isolation.AUTO,
        seed: int | None = None,
        limit: int | None = None,
    ) -> None:
        self.folder = Path(folder) if folder is not None else cache_root() / "cases"
        self._entries = Cache(self.folder, limit)
        self.limits, self.isolation, self.seed = limits, isolation, seed
        self._failures: dict[str, str] = {}  # a script that hangs is not tried again for every sample

    def prepare(self, task: ProgramTask, case: Case) -> PreparedCase:
        """The case's files, made when the cache does not have them. Thread-safe; a gen.py may lease a GPU.

        Raises OracleError when the case cannot be made: with the task, the case and what its script said; SandboxError when that
        is this machine's fault.
        """
        key = self._key(task, case)
        if key in self._failures:
            raise OracleError(self._failures[key])
        try:
            prepared, held = self._entries.take(key, _read, lambda place: self._make(task, case, place))
            return replace(prepared, held=held)
        except OSError as error:
            raise SandboxError(f"task {task.id}, case {case.name}: the cache {self.folder} failed: {error}") from error
        except OracleError as error:
            self._failures[key] = str(error)
            raise

    def _key(self, task: ProgramTask, case: Case) -> str:
        """Of what decides its data; random streams and results may differ with the versions."""
        seed = self.seed if task.draws_inputs else None
        return hashlib.sha256(json.dumps([task.fingerprint, case.name, seed, _versions(task)]).encode()).hexdigest()

    def _make(self, task: ProgramTask, case: Case, place: Path) -> PreparedCase:
        need = check_size(task, case, (tensor.nbytes or 0 for tensor in (*case.inputs, *case.outputs, *case.outputs)))
        self._entries.make_room(need, f"task {task.id}, case {case.name}")
        started = time.monotonic()
        with oracle_folder() as work:
            maker = CaseMaker(task, case, work, self.limits, self.isolation, self.seed)
            record = maker.make() | {"task": task.id, "case": case.name, "versions": _versions(task)}
            self._store(record | {"seconds": round(time.monotonic() - started, 3)}, maker.kept, place)
        if prepared := _read(place):
            return prepared
        raise SandboxError(f"task {task.id}, case {case.name}: {place} changes while it is read")

    def _store(self, record: dict[str, Any], kept: Path, place: Path) -> None:
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


def _read(place: Path) -> PreparedCase | None:
    """None when the case is not there, or is not what its manifest says."""
    manifest = place / "manifest.json"
    try:
        record = json.loads(manifest.read_text(encoding="utf-8"))
        if not all(_unchanged(place / name, entry) for name, entry in record["files"].items()):
            return None
    except (OSError, ValueError, KeyError, TypeError):
        return None
    files = {key: {name: place / file for name, file in record[key].items()} for key in FILES}
    return PreparedCase(
        **files,
        folder=place,
        tolerance={name: (rtol, atol) for name, (rtol, atol) in record["tolerance"].items()},
        self_check=None if record["self_check"] is None else Said(**record["self_check"]),
    )


def _unchanged(path: Path, entry: Mapping[str, Any]) -> bool:
    status = path.stat()
    return (status.st_size, status.st_mtime_ns) == (entry["bytes"], entry["mtime_ns"])


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
