"""Inputs and right outputs of a task's cases, made once and kept: every sample is judged on the same data.

A case is made in the sandbox (oracle_runs.py) and moved into the cache as a whole, so that a folder of the cache is complete
or not there. manifest.json names its files with size, SHA-256 and time; a file that changed since is noticed and the case is
made again. Several processes may share a cache: a lock file a case.
"""

import functools
import hashlib
import importlib.metadata
import json
import os
import shutil
import tempfile
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..files import file_sha256
from ..sandbox import Isolation, Limits, SandboxError, cache_root, remove_tree
from ..sandbox.folders import file_lock
from ..tasks.base import Case, ProgramTask, ScriptOracle, Tensor
from .oracle_runs import GIB, ORACLE_LIMITS, CaseMaker, OracleError, Said, check_size, oracle_folder


FILES = ("inputs", "expected", "references")
RESERVE = 2 * GIB  # disk space that is left free
IN_USE_S = 900.0  # a case used within this time is not removed to make room


@dataclass(frozen=True)
class PreparedCase:
    """The files of a case. Keys are what a program sees ("data/x.bin"), values lie in the cache and are read-only.

    expected: the right content of each output; without the outputs of a ScriptOracle whose reference could not be told.
    references: what gen.py wrote beside the inputs, for compare.py. tolerance: output name -> (rtol, atol), of a ReferenceOracle.
    self_check: what compare.py says about the reference itself, of a ScriptOracle.
    """

    inputs: Mapping[str, Path]
    expected: Mapping[str, Path]
    folder: Path
    references: Mapping[str, Path]
    tolerance: Mapping[str, tuple[float, float]]
    self_check: Said | None
    sha256: Mapping[str, str]  # of every file, by its path in `folder`

    def sizes(self, output: Tensor) -> tuple[int, ...]:
        """The sizes in bytes that are right for an output: one; two where a row of CUDABench declares one shape and its
        gen.py writes another; none, so that any but 0 may be right, where no size is known."""
        reference = self.expected.get(output.file)
        known = [output.nbytes, None if reference is None else reference.stat().st_size]
        return tuple(dict.fromkeys(size for size in known if size is not None))


class CaseCache:
    """Cases by content: oracle, case, id, seed, and the versions of the packages that make the data.

    folder: cache_root() / "cases" unless given. limits: of making one case. When the disk is full up to 2 GiB, the cases that were
    not used for longest are removed. seed: what inputs are drawn from where a task brings its generator, so that an answer cannot know
    them; None: the public inputs, the same everywhere.
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
        self.limits, self.isolation, self.seed = limits, isolation, seed
        self._failures: dict[str, str] = {}  # a script that hangs is not tried again for every sample

    def prepare(self, task: ProgramTask, case: Case) -> PreparedCase:
        """The case's files, made when the cache does not have them. Thread-safe; a gen.py may lease a GPU.

        Raises OracleError when the case cannot be made: with the task, the case and what its script said; SandboxError when that
        is this machine's fault.
        """
        # What decides its data; random streams and results may differ with the versions.
        seed = self.seed if task.draws_inputs else None
        key = hashlib.sha256(json.dumps([task.fingerprint, case.name, seed, _versions(task)]).encode()).hexdigest()
        if key in self._failures:
            raise OracleError(self._failures[key])
        place = self.folder / key[:2] / key
        try:
            if found := _read(place):
                return found
            with file_lock(self.folder / "locks" / f"{key}.lock"):
                if not _read(place):  # another process may have made it
                    self._make(task, case, place)
            if found := _read(place):
                return found
        except OSError as error:
            raise SandboxError(f"task {task.id}, case {case.name}: the cache {self.folder} failed: {error}") from error
        except OracleError as error:
            self._failures[key] = str(error)
            raise
        raise SandboxError(f"task {task.id}, case {case.name}: {place} changes while it is read")

    def _make(self, task: ProgramTask, case: Case, place: Path) -> None:
        self._make_room(task, case)
        started = time.monotonic()
        with oracle_folder() as work:
            maker = CaseMaker(task, case, work, self.limits, self.isolation, self.seed)
            record = maker.make() | {"task": task.id, "case": case.name, "versions": _versions(task)}
            self._store(record | {"seconds": round(time.monotonic() - started, 3)}, maker.kept, place)

    def _store(self, record: dict[str, Any], kept: Path, place: Path) -> None:
        """Move a finished case into the cache, complete or not at all."""
        making = Path(tempfile.mkdtemp(prefix="making-", dir=self.folder))
        try:
            files = {}
            for name in {file for key in FILES for file in record[key].values()}:
                path = making / name
                path.parent.mkdir(parents=True, exist_ok=True)
                shutil.move(kept / name, path)  # the cache may be on another disk than the scratch folder
                path.chmod(0o444)
                status = path.stat()
                files[name] = {"bytes": status.st_size, "sha256": file_sha256(path), "mtime_ns": status.st_mtime_ns}
            text = json.dumps(record | {"files": files}, indent=1)
            (making / "manifest.json").write_text(text, encoding="utf-8")
            remove_tree(place)  # damaged, or _read would have taken it
            place.parent.mkdir(parents=True, exist_ok=True)
            making.rename(place)
        finally:
            remove_tree(making)

    def _make_room(self, task: ProgramTask, case: Case) -> None:
        need = check_size(task, case, (tensor.nbytes or 0 for tensor in case.inputs + case.outputs))
        self.folder.mkdir(parents=True, exist_ok=True)
        used: dict[Path, float] = {}
        for manifest in self.folder.glob("??/*/manifest.json"):
            with suppress(OSError):  # another process made room
                used[manifest.parent] = manifest.stat().st_mtime
        oldest_first = iter(sorted(used, key=used.__getitem__))
        while shutil.disk_usage(self.folder).free < need + RESERVE:
            oldest = next(oldest_first, None)
            if oldest is None or time.time() - used[oldest] < IN_USE_S:
                raise SandboxError(
                    f"task {task.id}, case {case.name}: its data takes {need / GIB:.2f} GiB, and there is no room for it "
                    f"under {self.folder}; free disk space there or set CUSET_CACHE to a larger disk"
                )
            with suppress(OSError):
                remove_tree(oldest)


def _read(place: Path) -> PreparedCase | None:
    """None when the case is not there, or is not what its manifest says."""
    manifest = place / "manifest.json"
    try:
        record = json.loads(manifest.read_text(encoding="utf-8"))
        if not all(_unchanged(place / name, entry) for name, entry in record["files"].items()):
            return None
        os.utime(manifest)  # the time of the last use
    except (OSError, ValueError, KeyError, TypeError):
        return None
    files = {key: {name: place / file for name, file in record[key].items()} for key in FILES}
    return PreparedCase(
        **files,
        folder=place,
        tolerance={name: (rtol, atol) for name, (rtol, atol) in record["tolerance"].items()},
        self_check=None if record["self_check"] is None else Said(**record["self_check"]),
        sha256={name: entry["sha256"] for name, entry in record["files"].items()},
    )


def _unchanged(path: Path, entry: Mapping[str, Any]) -> bool:
    """Size and time are those of the manifest; after a copy of the cache the time is not, and the content decides."""
    status = path.stat()
    same_time = status.st_mtime_ns == entry["mtime_ns"]
    return status.st_size == entry["bytes"] and (same_time or file_sha256(path) == entry["sha256"])


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
