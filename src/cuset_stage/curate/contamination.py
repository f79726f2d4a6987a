"""Which rows come from a benchmark: held against the user's own copies, by code, by single kernels, and by prompt.

Nobody else's benchmark is kept here; a path to a local copy is all we take.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..tasks import ModuleTask, Task, TaskError, TaskSet, load_tasks
from .similarity import NearIndex, code_print, compared_code, module_print, prose_print
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


class _Known:
    """One kind of fingerprint of the benchmarks: what is equal, and what is largely the same."""

    def __init__(self, threshold: float) -> None:
        self._equal: dict[str, str] = {}
        self._near = NearIndex(threshold)

    def add(self, name: str, equal: Iterable[str], near: np.ndarray | None = None) -> None:
        for value in equal:
            self._equal.setdefault(value, name)
        self._near.add(name, near)

    def equal(self, *values: str) -> tuple[str, float] | None:
        return next(((self._equal[value], 1.0) for value in values if value in self._equal), None)

    def near(self, near: np.ndarray | None) -> tuple[str, float] | None:
        return self._near.best(near)


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
        self._code, self._modules = _Known(code_threshold), _Known(code_threshold)
        self._normalised, self._kernels, self._names = (_Known(code_threshold) for _ in range(3))
        self._prompts = _Known(prompt_threshold)
        self.record: dict[str, dict[str, object]] = {}
        for name, loaded in read_benchmarks(paths).items():
            for task in loaded:
                self._add(f"{name}\t{task.id}", task)
            self.record[name] = {"tasks": len(loaded), "format": loaded.format, "sha256": loaded.sha256}

    def _add(self, name: str, task: Task) -> None:
        if isinstance(task, ModuleTask):  # its prompt is its code in our words, and not compared
            found = module_print(task.reference)
            self._modules.add(name, (found.exact, found.normalised), found.near)
            self._names.add(name, [task.name] if _NUMBERED.match(task.name) else [])
            return
        if task.solution:
            found = code_print(task.solution)
            self._code.add(name, [found.exact], found.near)
            self._normalised.add(name, [found.normalised])
            self._kernels.add(name, found.kernels)
        for prompt in task.prompts.values():
            found = prose_print(prompt)
            self._prompts.add(name, [found.exact], found.near)

    def find(self, row: Row) -> Contamination | None:
        """What the row shares with a benchmark; the surest sign first."""
        for method, found in self._signs(row):
            if found is not None:
                benchmark, _, task = found[0].partition("\t")
                return Contamination(benchmark, task, method, round(found[1], 3))
        return None

    def _signs(self, row: Row) -> Iterator[tuple[str, tuple[str, float] | None]]:
        code = compared_code(row)
        is_module = row.get("kind", "module" if row.get("module_code") else "program") == "module"  # `adapt` says it
        if is_module:
            for source in (str(row.get("module_code") or ""), code):
                found = module_print(source)
                yield "module", self._modules.equal(found.exact, found.normalised) or self._modules.near(found.near)
            # The archive of the AI CUDA Engineer calls its rows what KernelBench calls its tasks.
            yield "name", self._names.equal(str(row.get("name")), str(row.get("description")))
        if code.strip():
            found = code_print(code)
            yield "exact", self._code.equal(found.exact)
            yield "normalised", self._normalised.equal(found.normalised)
            yield "kernel", self._kernels.equal(*found.kernels)
            yield "near", self._code.near(found.near)
        if not is_module:
            found = prose_print(own_prompt(row))
            yield "prompt", self._prompts.equal(found.exact) or self._prompts.near(found.near)


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
