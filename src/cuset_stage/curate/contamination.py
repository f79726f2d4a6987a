"""Which rows come from a benchmark: held against the user's own copies, by code, by single kernels, and by prompt.

Nobody else's benchmark is kept here; a path to a local copy is all we take.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ..tasks import ModuleTask, TaskError, TaskSet, load_tasks
from .similarity import NearIndex, any_equal, code_print, compared_code, module_print, prose_print
from .stage_rows import CurationError, Row
from .training_text import own_prompt


CODE_THRESHOLD = 0.6
PROMPT_THRESHOLD = 0.7
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
        self,
        paths: Mapping[str, Path],
        *,
        code_threshold: float = CODE_THRESHOLD,
        prompt_threshold: float = PROMPT_THRESHOLD,
    ) -> None:
        self._exact: dict[str, str] = {}
        self._normalised: dict[str, str] = {}
        self._kernels: dict[str, str] = {}
        self._prompts: dict[str, str] = {}
        self._modules: dict[str, str] = {}
        self._names: dict[str, str] = {}
        self._near = NearIndex(code_threshold)
        self._near_modules = NearIndex(code_threshold)
        self._near_prompts = NearIndex(prompt_threshold)
        self.record: dict[str, dict[str, object]] = {}
        self.tasks: dict[str, int] = {}
        for name, loaded in read_benchmarks(paths).items():
            for task in loaded:
                if isinstance(task, ModuleTask):
                    self._add_module(f"{name}\t{task.id}", task)
                    continue
                if task.solution:
                    self._add_code(f"{name}\t{task.id}", task.solution)
                for prompt in task.prompts.values():
                    self._add_prompt(f"{name}\t{task.id}", prompt)
            self.record[name] = {"tasks": len(loaded), "format": loaded.format, "sha256": loaded.sha256}
            self.tasks[name] = len(loaded)

    def _add_code(self, name: str, source: str) -> None:
        found = code_print(source)
        self._exact.setdefault(found.exact, name)
        self._normalised.setdefault(found.normalised, name)
        for kernel in found.kernels:
            self._kernels.setdefault(kernel, name)
        self._near.add(name, found.near)

    def _add_module(self, name: str, task: ModuleTask) -> None:
        """Its prompt is its code in our words, and not compared."""
        found = module_print(task.reference)
        self._modules.setdefault(found.exact, name)
        self._modules.setdefault(found.normalised, name)
        self._near_modules.add(name, found.near)
        if _NUMBERED.match(task.name):
            self._names.setdefault(task.name, name)

    def _add_prompt(self, name: str, text: str) -> None:
        found = prose_print(text)
        self._prompts.setdefault(found.exact, name)
        self._near_prompts.add(name, found.near)

    def find(self, row: Row) -> Contamination | None:
        """What the row shares with a benchmark; the surest sign first."""
        code = compared_code(row)
        is_module = row.get("kind", "module" if row.get("module_code") else "program") == "module"  # `adapt` says it
        if is_module:
            contamination = self._find_module(row, code)
            if contamination is not None:
                return contamination
        if code.strip():
            found = code_print(code)
            for method, values, known in (
                ("exact", (found.exact,), self._exact),
                ("normalised", (found.normalised,), self._normalised),
                ("kernel", found.kernels, self._kernels),
            ):
                name = any_equal(values, known)
                if name is not None:
                    return _contamination(name, method, 1.0)
            best = self._near.best(found.near)
            if best is not None:
                return _contamination(best[0], "near", best[1])
        if is_module:
            return None
        found = prose_print(own_prompt(row))
        if found.exact in self._prompts:
            return _contamination(self._prompts[found.exact], "prompt", 1.0)
        best = self._near_prompts.best(found.near)
        return None if best is None else _contamination(best[0], "prompt", best[1])

    def _find_module(self, row: Row, answer: str) -> Contamination | None:
        for source in (str(row.get("module_code") or ""), answer):
            found = module_print(source)
            name = any_equal((found.exact, found.normalised), self._modules)
            if name is not None:
                return _contamination(name, "module", 1.0)
            best = self._near_modules.best(found.near)
            if best is not None:
                return _contamination(best[0], "module", best[1])
        # The archive of the AI CUDA Engineer calls its rows what KernelBench calls its tasks.
        name = any_equal([str(row.get("name")), str(row.get("description"))], self._names)
        return None if name is None else _contamination(name, "name", 1.0)


def _contamination(name: str, method: str, similarity: float) -> Contamination:
    benchmark, _, task = name.partition("\t")
    return Contamination(benchmark, task, method, round(similarity, 3))


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
