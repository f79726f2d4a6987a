"""Finds the rows that come from a benchmark: they are held against the user's own copies, kernel by kernel, by module, and by prompt.

A kernel that is as near to one that every course has (common_kernels.cu) as to the benchmark's says nothing: a row with one comes from a
benchmark when its prompt does, or the whole program. Nobody else's benchmark is kept here; a path to a local copy is all we take.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from ..cuda_source import normalised
from ..tasks import ModuleTask, Task, TaskError, TaskSet, load_tasks
from .fingerprints import (
    fingerprints_of,
    jaccard,
    kernel_fingerprints,
    module_fingerprint,
    prose_fingerprint,
    unpacked,
)
from .rows import CurationError, Row, digest


_NUMBERED = re.compile(r"(\d+)_\w{3,}")  # 19_ReLU; a bare `relu` may be anything
# Jaccard similarity from which a kernel, a module's text or the words of a prompt count as the benchmark's.
_THRESHOLDS = {"kernel": 0.6, "module": 0.6, "prompt": 0.7}
COMMON = Path(__file__).with_name("common_kernels.cu")


@dataclass(frozen=True)
class Contamination:
    """A row found in a benchmark. method: program, kernel, module, name or prompt."""

    benchmark: str
    task: str
    method: str
    similarity: float

    def __str__(self) -> str:
        return f"{self.benchmark}: {self.task} ({self.method}, {self.similarity:.2f})"


class Benchmarks:
    """The fingerprints of named benchmarks.

    Args:
        paths: name -> a file or folder that `load_tasks` reads (CUDABench, KernelBench, our own format).

    Raises:
        CurationError: a path cannot be read as a task set.
    """

    def __init__(self, paths: Mapping[str, Path]) -> None:
        self._equal: dict[tuple[str, str], str] = {}  # (method, digest) -> task
        self._near: dict[str, tuple[list[str], list[np.ndarray]]] = {}  # method -> tasks and their MinHashes
        self.record: dict[str, dict[str, object]] = {}
        for name, loaded in read_benchmarks(paths).items():
            for task in loaded:
                self._add_task(f"{name}\t{task.id}", task)
            self.record[name] = {"tasks": len(loaded), "format": loaded.format, "sha256": loaded.sha256}
        self._stacked = {method: (tasks, np.stack(found)) for method, (tasks, found) in self._near.items()}

    def _add_task(self, name: str, task: Task) -> None:
        if isinstance(task, ModuleTask):  # its prompt is its code in our words, and not compared
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

    def _add(self, method: str, name: str, *given: str) -> None:
        """given: digests, and last a MinHash or nothing."""
        for value in given[:-1]:
            self._equal.setdefault((method, value), name)
        sketch = unpacked(given[-1])
        if sketch is not None:
            tasks, sketches = self._near.setdefault(method, ([], []))
            # A task at five sizes has its kernel five times.
            if not any((sketch == other).all() for other in sketches):
                tasks.append(name)
                sketches.append(sketch)

    def find(self, row: Row) -> Contamination | None:
        """Return the surest sign that the row comes from a benchmark; None without one."""
        if not self.record:
            return None
        fingerprints: dict[str, Any] = fingerprints_of(row)
        # The archive of the AI CUDA Engineer calls its rows what KernelBench calls its tasks; robust-kbench's folders have their numbers.
        names = [str(row.get(key)) for key in ("name", "description", "family")] if "module" in fingerprints else []
        signs = [
            ("program", [fingerprints["program"], ""]),
            ("module", fingerprints.get("module")),
            ("name", [*names, ""]),
            *(("kernel", [sketch]) for sketch in fingerprints["kernels"]),
            ("prompt", None if "module" in fingerprints else fingerprints.get("prompt")),
        ]
        for method, given in signs:
            match = self._held(method, given) if given else None
            if match and method == "kernel":  # is one of every course as near?
                common = float(jaccard(_common_kernels(), unpacked(given[0])).max())
                match = match if round(common, 3) < match.similarity else None
            if match:
                return match
        return None

    def _held(self, method: str, given: list[str]) -> Contamination | None:
        task = next((self._equal[method, value] for value in given[:-1] if (method, value) in self._equal), None)
        if task is not None:
            return Contamination(*task.split("\t", 1), method, 1.0)
        sketch = unpacked(given[-1])
        if sketch is None or method not in self._stacked:
            return None
        tasks, sketches = self._stacked[method]
        similarities = jaccard(sketches, sketch)
        best = int(similarities.argmax())
        if similarities[best] < _THRESHOLDS[method]:
            return None
        return Contamination(*tasks[best].split("\t", 1), method, round(float(similarities[best]), 3))


@cache
def _common_kernels() -> np.ndarray:
    return np.stack([unpacked(each) for each in kernel_fingerprints(COMMON.read_text(encoding="utf-8"))])


def read_benchmarks(paths: Mapping[str, Path]) -> dict[str, TaskSet]:
    """The task sets at name -> path.

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
