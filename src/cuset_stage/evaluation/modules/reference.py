"""What all answers to a module task share: its inputs and the reference's outputs, made by the task's own module."""

import threading
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from ...sandbox import Gpu, scratch_folder
from ..oracle_runs import OracleError
from ..tasks import ModuleTask
from .closeness import element_bytes
from .runs import Report, Worker, ending


@dataclass
class Prepared:
    """What all answers to a task share: inputs, and the reference's outputs. Made when first needed."""

    guard: threading.Lock = field(default_factory=threading.Lock)
    files: ExitStack = field(default_factory=ExitStack)
    inputs: dict[str, Path] = field(default_factory=dict)
    outputs: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    expected: dict[str, list[Path]] = field(default_factory=dict)
    changed_inputs: tuple[int, ...] = ()

    def close(self) -> None:
        """Remove the files."""
        with self.guard:
            self.files.close()
            self.inputs, self.outputs, self.expected = {}, {}, {}


@dataclass(frozen=True)
class Reference:
    """The task's own module, run by the worker. Every method raises OracleError when it fails."""

    worker: Worker
    task: ModuleTask
    seeds: int
    gpu: Gpu | None

    def _make_inputs(self, task: ModuleTask, prepared: Prepared, gpu: Gpu | None) -> None:
        with self._reference_folder(task) as folder:
            request = {"action": "inputs", "model": "Model", "seeds": list(range(self.seeds))}
            self._trusted(task, folder, request, {}, gpu)
            target = prepared.files.enter_context(scratch_folder())
            (folder / "work" / "out").rename(target / "inputs")
        files = [path for path in (target / "inputs").rglob("*") if path.is_file() and path.parent.parent == target
                 or path.suffix == ".bin"]  # fmt: skip
        prepared.inputs = {
            str(path.relative_to(target)): path for path in files if path.suffix == ".bin" or path.name == "arguments.json"
        }

    def _make_outputs(self, task: ModuleTask, prepared: Prepared, gpu: Gpu | None) -> None:
        with self._reference_folder(task) as folder:
            request = {"action": "forward", "model": "Model", "seeds": list(range(self.seeds))}
            report = self._trusted(task, folder, request, prepared.inputs, gpu)
            target = prepared.files.enter_context(scratch_folder())
            (folder / "work" / "out" / report.name).rename(target / "expected")
        outputs = report.record["outputs"]
        for row in (row for rows in outputs.values() for row in rows):
            if element_bytes(row["dtype"]) is None:
                raise OracleError(f"task {task.id}: {row['name']} is {row['dtype']}, which cannot be compared")
        prepared.expected = {
            seed: [target / "expected" / seed / f"{number}.bin" for number in range(len(rows))]
            for seed, rows in outputs.items()
        }
        prepared.changed_inputs = tuple(report.record["changed_inputs"])
        prepared.outputs = outputs

    def time(self, prepared: Prepared) -> float:
        """Seconds a forward pass takes, the median of the timed calls."""
        with self._folder() as folder:
            request = {"action": "time", "model": "Model", "seeds": [0, 1]}
            return median(self._run(folder, request, prepared.inputs).record["times"])

    @contextmanager
    def _reference_folder(self, task: ModuleTask) -> Iterator[Path]:
        with scratch_folder() as folder:
            (folder / "answer.py").write_text(task.reference, encoding="utf-8", newline="\n")
            (folder / "work").mkdir()
            yield folder

    def _trusted(
        self, task: ModuleTask, folder: Path, request: Mapping[str, Any], inputs: Mapping[str, Path], gpu: Gpu | None
    ) -> Report:
        """A run of the task's own module.

        Raises:
            OracleError: It failed.
        """
        report = self._run(folder, request, inputs, gpu)
        if not report.done:
            what = report.error["message"] if report.error else _ending(report.finished)
            raise OracleError(f"task {task.id}: the reference's {request['action']} failed: {what[-1000:]}")
        return report

