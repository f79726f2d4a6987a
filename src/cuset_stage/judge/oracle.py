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
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from ..files import file_sha256
from ..sandbox import Isolation, Limits, cache_root, remove_tree
from ..sandbox.cache import file_lock, held, try_lock
from ..sandbox.folders import take_output
from ..tasks.base import ORACLE_VERSION, Case, ProgramTask, ReferenceOracle, ScriptOracle, Tensor
from .oracle_runs import (
    COMPARE_LIMITS,
    GIB,
    ORACLE_LIMITS,
    OracleError,
    OracleUnavailable,
    Said,
    oracle_folder,
    pair_references,
    run_compare,
    run_generate,
    run_reference,
)


MAX_CASE_BYTES = 16 * GIB  # of the data of one case
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
    """Cases by content: oracle, case, id, and the versions of the packages that make the data.

    folder: cache_root() / "cases" unless given. limits: of making one case. When the disk is full up to 2 GiB, the cases that were
    not used for longest are removed.
    """

    def __init__(
        self, folder: Path | None = None, *, limits: Limits = ORACLE_LIMITS, isolation: Isolation = Isolation.AUTO
    ) -> None:
        self.folder = Path(folder) if folder is not None else cache_root() / "cases"
        self.limits, self.isolation = limits, isolation
        self._failures: dict[str, str] = {}  # a script that hangs is not tried again for every sample

    def prepare(self, task: ProgramTask, case: Case) -> PreparedCase:
        """The case's files, made when the cache does not have them. Thread-safe; a gen.py may lease a GPU.

        Raises OracleError when the case cannot be made: with the task, the case and what its script said.
        """
        key = case_key(task, case)
        if key in self._failures:
            raise OracleError(self._failures[key])
        place = self.folder / key[:2] / key
        found = _read(place, case)
        try:
            if found is None:
                with file_lock(self._lock_file(key)):
                    found = _read(place, case)  # another process may have made it
                    if found is None:
                        self._make(task, case, place)
                        found = _read(place, case)
        except OracleError as error:
            if not isinstance(error, OracleUnavailable):
                self._failures[key] = str(error)
            raise
        except OSError as error:
            raise OracleError(f"task {task.id}, case {case.name}: the cache {self.folder} failed: {error}") from error
        if found is None:
            raise OracleError(f"task {task.id}, case {case.name}: {place} changes while it is read")
        return found

    def _lock_file(self, key: str) -> Path:
        return self.folder / "locks" / f"{key}.lock"

    def _make(self, task: ProgramTask, case: Case, place: Path) -> None:
        self._make_room(task, case)
        started = time.monotonic()
        with oracle_folder() as work:
            kept = work.parent / "kept"
            kept.mkdir()
            if isinstance(task.oracle, ReferenceOracle):
                record = self._run_reference(task, case, task.oracle, work, kept)
            else:
                record = self._run_scripts(task, case, task.oracle, work, kept)
            seconds = round(time.monotonic() - started, 3)
            record |= {"task": task.id, "case": case.name, "versions": _versions(task), "seconds": seconds}
            self._store(record, kept, place)

    def _run_reference(
        self, task: ProgramTask, case: Case, oracle: ReferenceOracle, work: Path, kept: Path
    ) -> dict[str, Any]:
        run_reference(task, case, oracle, work, self.limits, self.isolation)
        _take(task, work, "result.json", kept)
        try:
            record = {"tolerance": json.loads((kept / "result.json").read_bytes())["tolerance"]}
        except (ValueError, TypeError, KeyError, RecursionError) as error:
            raise OracleError(f"task {task.id}, case {case.name}: the reference spoilt its result: {error}") from None
        for key, tensors in (("inputs", case.inputs), ("expected", case.outputs)):
            record[key] = {tensor.file: f"{key}/{tensor.name}.bin" for tensor in tensors}
            for tensor in tensors:
                _take(task, work, f"{key}/{tensor.name}.bin", kept, tensor.nbytes)
        return {**record, "references": {}, "self_check": None}

    def _run_scripts(
        self, task: ProgramTask, case: Case, oracle: ScriptOracle, work: Path, kept: Path
    ) -> dict[str, Any]:
        ended = run_generate(task, oracle, work, self.limits, self.isolation)
        written = written_files(work)
        inputs = {tensor.file: tensor.file for tensor in case.inputs}
        if missing := [name for name in inputs if name not in written]:
            how = f"; it ended with {ended}" if ended else ""
            raise OracleError(f"task {task.id}: gen.py did not write {', '.join(missing)}{how}")
        _check_size(task, case, sum(written.values()))
        for name in written:
            _take(task, work, name, kept)
        files = {name: kept / name for name in written}
        references = [name for name in written if name not in inputs]
        expected, said = pair_references(
            case.outputs,
            {name: files[name] for name in references},
            lambda outputs: run_compare(task, oracle, files | outputs, COMPARE_LIMITS, self.isolation),
        )
        outputs = {tensor.file for tensor in case.outputs}
        return {
            "inputs": inputs,
            "expected": {name: str(path.relative_to(kept)) for name, path in expected.items()},
            # A gen.py that writes an output itself must not help a program that writes none.
            "references": {name: name for name in references if name not in outputs},
            "tolerance": {},
            "self_check": asdict(replace(said, generate_exit=ended)),
        }

    def _store(self, record: dict[str, Any], kept: Path, place: Path) -> None:
        """Move a finished case into the cache, complete or not at all."""
        making = Path(tempfile.mkdtemp(prefix="making-", dir=self.folder))
        try:
            files = {}
            for name in {file for key in ("inputs", "expected", "references") for file in record[key].values()}:
                path = making / name
                path.parent.mkdir(parents=True, exist_ok=True)
                shutil.move(kept / name, path)  # the cache may be on another disk than the scratch folder
                path.chmod(0o444)
                status = path.stat()
                files[name] = {"bytes": status.st_size, "sha256": file_sha256(path), "mtime_ns": status.st_mtime_ns}
            text = json.dumps(record | {"files": files}, indent=1)
            (making / "manifest.json").write_text(text, encoding="utf-8")
            if place.exists():  # damaged, or _read would have taken it
                remove_tree(place)
            place.parent.mkdir(parents=True, exist_ok=True)
            making.rename(place)
        finally:
            remove_tree(making)

    def _make_room(self, task: ProgramTask, case: Case) -> None:
        need = sum(tensor.nbytes or 0 for tensor in case.inputs + case.outputs)
        _check_size(task, case, need)
        self.folder.mkdir(parents=True, exist_ok=True)
        idle = []
        for manifest in self.folder.glob("??/*/manifest.json"):
            with suppress(OSError):  # another process made room
                used = manifest.stat().st_mtime
                if time.time() - used > IN_USE_S:
                    idle.append((used, manifest.parent))
        idle.sort(reverse=True)
        while shutil.disk_usage(self.folder).free < need + RESERVE:
            if not idle:
                raise OracleUnavailable(
                    f"task {task.id}, case {case.name}: its data takes {need / GIB:.2f} GiB, and there is no room for it "
                    f"under {self.folder}; free disk space there or set CUSET_CACHE to a larger disk"
                )
            _, oldest = idle.pop()
            lock = try_lock(self._lock_file(oldest.name))
            if lock is not None:
                with held(lock):
                    remove_tree(oldest)


def _check_size(task: ProgramTask, case: Case, need: int) -> None:
    if need > MAX_CASE_BYTES:
        raise OracleError(
            f"task {task.id}, case {case.name}: its data takes {need / GIB:.2f} GiB, more than the "
            f"{MAX_CASE_BYTES / GIB:.2f} GiB that one case may take"
        )


def _read(place: Path, case: Case) -> PreparedCase | None:
    """None when the case is not there, or is not what its manifest says."""
    manifest = place / "manifest.json"
    try:
        record = json.loads(manifest.read_text(encoding="utf-8"))
        if not all(_unchanged(place / name, entry) for name, entry in record["files"].items()):
            return None
        os.utime(manifest)  # the time of the last use
    except (OSError, ValueError, KeyError, TypeError):
        return None
    found = {
        key: {name: place / file for name, file in record[key].items()} for key in ("inputs", "expected", "references")
    }
    return PreparedCase(
        **found,
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


def case_key(task: ProgramTask, case: Case) -> str:
    """SHA-256 of what decides a case's data. The versions belong to it: their random streams and results may differ."""
    decides = {
        "version": ORACLE_VERSION,
        "id": task.id,
        "case": case.name,
        "parameters": dict(case.parameters),
        "tensors": [tensor.as_list for tensor in case.inputs + case.outputs],
        "inputs": len(case.inputs),
        "oracle": vars(task.oracle),
        "versions": _versions(task),
    }
    return hashlib.sha256(json.dumps(decides, sort_keys=True).encode()).hexdigest()


def written_files(folder: Path) -> dict[str, int]:
    """The regular files under folder/data, "data/x.bin" -> bytes. Links are not followed, and other kinds left out."""
    files = {}
    for root, _, names in os.walk(folder / "data"):
        for name in sorted(names):
            path = Path(root) / name
            if not path.is_symlink() and path.is_file():
                files[str(path.relative_to(folder))] = path.stat().st_size
    return files


def _versions(task: ProgramTask) -> dict[str, str]:
    packages = ["numpy"]
    if isinstance(task.oracle, ScriptOracle):
        imports = {"torch": "torch", "scipy": "scipy", "pillow": "PIL"}
        packages += [package for package, name in imports.items() if name in task.oracle.generate]
    return {name: _version(name) for name in packages}


@functools.cache  # it reads a file of the package's each time
def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "none"


def _take(task: ProgramTask, work: Path, name: str, kept: Path, size: int | None = None) -> None:
    """Take a file out of the folder that a script could write to."""
    refused = take_output(work, name, kept / name, size=size)
    if refused is not None:
        raise OracleError(f"task {task.id}: its oracle left {refused.reason}")
