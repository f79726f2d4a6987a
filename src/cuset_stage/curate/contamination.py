"""Find rows that come from a benchmark.

Rows are compared with the user's own copies of the benchmarks: by whole program, by kernel, by PyTorch module, by name
and by prompt. The package contains no benchmark of others. It only takes paths to local copies.

Some kernels appear in every CUDA course (common_kernels.cu). If a row's kernel is as similar to one of these as to a
benchmark's kernel, the match counts for nothing. Such a row counts as contaminated only if its prompt or its whole
program matches.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from ..cuda_source import normalised
from ..tasks import ModuleTask, Task, TaskError, TaskSet, load_tasks
from .fingerprints import jaccard, kernel_fingerprints, module_fingerprint, prose_fingerprint, unpacked
from .rows import CurationError, Row, digest


_NUMBERED = re.compile(r"(\d+)_\w{3,}")  # such as 19_ReLU; a bare `relu` does not identify a task
# Lowest Jaccard similarity at which a kernel, a module's text or a prompt's words count as a match.
_THRESHOLDS = {"kernel": 0.6, "module": 0.6, "prompt": 0.7}
COMMON = Path(__file__).with_name("common_kernels.cu")
_Task = tuple[str, str]  # the name of a benchmark, and the id of one of its tasks


@dataclass(frozen=True)
class Contamination:
    """A match between a row and a benchmark's task.

    Attributes:
        benchmark: the benchmark's name.
        task: the id of the matching task.
        method: what matched: "program", "kernel", "module", "name" or "prompt".
        similarity: Jaccard similarity, 1.0 for equal fingerprints.
    """

    benchmark: str
    task: str
    method: str
    similarity: float

    def __str__(self) -> str:
        return f"{self.benchmark}: {self.task} ({self.method}, {self.similarity:.2f})"


class Benchmarks:
    """The fingerprints of all tasks of the given benchmarks.

    Args:
        paths: benchmark name -> a file or folder that `load_tasks` reads (CUDABench, KernelBench, our own format).

    Attributes:
        record: benchmark name -> number of tasks, format and SHA-256, for the stage's summary.

    Raises:
        CurationError: a path cannot be read as a task set.
    """

    def __init__(self, paths: Mapping[str, Path]) -> None:
        self._equal: dict[tuple[str, str], _Task] = {}  # (method, digest) -> task
        self._near: dict[str, dict[str, _Task]] = {}  # method -> packed MinHash -> task
        self.record: dict[str, dict[str, object]] = {}
        for name, loaded in read_benchmarks(paths).items():
            for task in loaded:
                self._add_task((name, task.id), task)
            self.record[name] = {"tasks": len(loaded), "format": loaded.format, "sha256": loaded.sha256}
        self._stacked = {method: np.stack([unpacked(each) for each in near]) for method, near in self._near.items()}

    def _add_task(self, name: _Task, task: Task) -> None:
        if isinstance(task, ModuleTask):  # its prompt is its code within our wording, so it is not compared
            self._add("module", name, *module_fingerprint(task.own_source or task.reference))
            if number := _NUMBERED.match(task.name):
                level = task.family.removeprefix("level")
                self._add("name", name, task.name, f"kernelbench_level_{level}_task_{number[1]}", "")
            return
        for program in filter(None, (task.solution, task.alternative)):
            self._add("program", name, digest(normalised(program)), "")
            for kernel in kernel_fingerprints(program):
                self._add("kernel", name, kernel)
        for prompt in task.prompts.values():
            self._add("prompt", name, *prose_fingerprint(prompt))

    def _add(self, method: str, name: _Task, *given: str) -> None:
        """Add a task's fingerprints. `given` holds digests, and as its last entry a packed MinHash or ""."""
        for value in given[:-1]:
            self._equal.setdefault((method, value), name)
        if given[-1]:  # once, although a task that comes in five sizes has the same kernel five times
            self._near.setdefault(method, {}).setdefault(given[-1], name)

    def find(self, row: Row) -> Contamination | None:
        """Return the most reliable match of a row, which has its fingerprints, with a benchmark, or None."""
        if not self.record:
            return None
        fingerprints: dict[str, Any] = row["fingerprints"]
        # The AI CUDA Engineer archive names its rows like KernelBench's tasks. robust-kbench's folders contain the
        # numbers of these tasks.
        names = [str(row.get(key)) for key in ("name", "description", "family")] if "module" in fingerprints else []
        signs = [
            ("program", [fingerprints["program"], ""]),
            ("module", fingerprints.get("module")),
            ("name", [*names, ""]),
            *(("kernel", [sketch]) for sketch in fingerprints["kernels"]),
            ("prompt", None if "module" in fingerprints else fingerprints.get("prompt")),
        ]
        for method, fingerprint in signs:
            match = self._held(method, fingerprint) if fingerprint else None
            if match and method == "kernel":  # a match counts only if it is closer than any common kernel
                common = float(jaccard(_common_kernels(), unpacked(fingerprint[0])).max())
                match = match if round(common, 3) < match.similarity else None
            if match:
                return match
        return None

    def _held(self, method: str, given: list[str]) -> Contamination | None:
        """Return the match of one fingerprint (as in `_add`) with the benchmarks: an equal one, else the nearest."""
        task = next((self._equal[method, value] for value in given[:-1] if (method, value) in self._equal), None)
        if task is not None:
            return Contamination(*task, method, 1.0)
        sketch = unpacked(given[-1])
        if sketch is None or method not in self._stacked:
            return None
        similarities = jaccard(self._stacked[method], sketch)
        best = int(similarities.argmax())
        if similarities[best] < _THRESHOLDS[method]:
            return None
        return Contamination(*list(self._near[method].values())[best], method, round(float(similarities[best]), 3))


@cache
def _common_kernels() -> np.ndarray:
    """Return the MinHashes of the kernels in common_kernels.cu, [kernels, 128]."""
    return np.stack([unpacked(sketch) for sketch in kernel_fingerprints(COMMON.read_text(encoding="utf-8"))])


def read_benchmarks(paths: Mapping[str, Path]) -> dict[str, TaskSet]:
    """Load the task set of each benchmark. `paths` maps names to paths, the result maps names to task sets.

    Raises:
        CurationError: a path cannot be read as a task set.
    """
    task_sets = {}
    for name, path in paths.items():
        try:
            task_sets[name] = load_tasks(path)
        except TaskError as error:
            raise CurationError(f"against: {name}={path}: {error}") from None
    return task_sets
