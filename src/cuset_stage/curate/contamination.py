"""Which rows come from a benchmark: held against the user's own copies, by code, by single kernels, and by prompt.

Nobody else's benchmark is kept here; a path to a local copy is all we take.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..tasks import ModuleTask, Task, TaskError, TaskSet, load_tasks
from .similarity import code_print, compared_code, jaccard, module_print, prose_print
from .stage_rows import CurationError, Row
from .training_text import own_prompt


_NUMBERED = re.compile(r"\d+_\w{3,}")  # 19_ReLU; a bare `relu` may be anything


@dataclass(frozen=True)
class Contamination:
    """A row found in a benchmark. method: exact, normalised, kernel, near, module, name or prompt."""

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
        code_threshold, prompt_threshold: Jaccard similarity from which a program or a prompt counts as the benchmark's.

    Raises:
        CurationError: a path cannot be read as a task set.
    """

    def __init__(
        self, paths: Mapping[str, Path], *, code_threshold: float = 0.6, prompt_threshold: float = 0.7
    ) -> None:
        self._thresholds = {"near": code_threshold, "module": code_threshold, "prompt": prompt_threshold}
        self._equal: dict[tuple[str, str], str] = {}  # (kind, digest) -> task
        self._near: dict[str, list[tuple[np.ndarray, str]]] = defaultdict(list)
        self.record: dict[str, dict[str, object]] = {}
        for name, loaded in read_benchmarks(paths).items():
            for task in loaded:
                self._add_task(f"{name}\t{task.id}", task)
            self.record[name] = {"tasks": len(loaded), "format": loaded.format, "sha256": loaded.sha256}

    def _add_task(self, name: str, task: Task) -> None:
        if isinstance(task, ModuleTask):  # its prompt is its code in our words, and not compared
            found = module_print(task.own_source or task.reference)
            self._add("module", name, found.exact, found.normalised, near=found.near)
            if _NUMBERED.match(task.name):
                self._add("name", name, task.name)
            return
        if task.solution:
            found = code_print(task.solution)
            self._add("exact", name, found.exact)
            self._add("normalised", name, found.normalised)
            self._add("kernel", name, *found.kernels)
            self._add("near", name, near=found.near)
        for prompt in task.prompts.values():
            found = prose_print(prompt)
            self._add("prompt", name, found.exact, near=found.near)

    def _add(self, kind: str, name: str, *equal: str, near: np.ndarray | None = None) -> None:
        for value in equal:
            self._equal.setdefault((kind, value), name)
        if near is not None:
            self._near[kind].append((near, name))

    def find(self, row: Row) -> Contamination | None:
        """What the row shares with a benchmark; the surest sign first."""
        for method, equal, near in _signs(row):
            found = [(1.0, self._equal[method, each]) for each in equal if (method, each) in self._equal]
            if near is not None and not found:
                found = [(jaccard(near, other), name) for other, name in self._near[method]]
            similarity, name = max(found, default=(0.0, ""))
            if similarity == 1 or similarity >= self._thresholds.get(method, 1):
                return Contamination(*name.split("\t", 1), method, round(similarity, 3))
        return None


def _signs(row: Row) -> Iterator[tuple[str, tuple[str, ...], np.ndarray | None]]:
    """(method, digests, MinHash) by which a row may be a benchmark's."""
    code = compared_code(row)
    is_module = row.get("kind", "module" if row.get("module_code") else "program") == "module"  # `adapt` says it
    if is_module:
        for source in (str(row.get("module_code") or ""), code):
            found = module_print(source)
            yield "module", (found.exact, found.normalised), found.near
        # The archive of the AI CUDA Engineer calls its rows what KernelBench calls its tasks.
        yield "name", (str(row.get("name")), str(row.get("description"))), None
    if code.strip():
        found = code_print(code)
        yield "exact", (found.exact,), None
        yield "normalised", (found.normalised,), None
        yield "kernel", found.kernels, None
        yield "near", (), found.near
    if not is_module:
        found = prose_print(own_prompt(row))
        yield "prompt", (found.exact,), found.near


def read_benchmarks(paths: Mapping[str, Path]) -> dict[str, TaskSet]:
    """The task sets at name -> path.

    Raises:
        CurationError: a path cannot be read as a task set.
    """
    found = {}
    for name, path in paths.items():
        try:
            found[name] = load_tasks(path)
        except TaskError as error:
            raise CurationError(f"against: {name}={path}: {error}") from None
    return found
