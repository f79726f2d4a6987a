"""What all answers to a module task are held against: inputs and right outputs, made by the task's own module."""

import json
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import median
from typing import Any

from ...sandbox import Gpu, scratch_folder
from ...tasks import ModuleTask
from ..closeness import is_comparable, module_distance
from ..oracle_runs import OracleError
from .calls import PERMUTED, POOL, Expected, fresh, in_place, unseen
from .runs import Report, Worker, own_tree


Rows = Mapping[str, list[Mapping[str, Any]]]


class Reference:
    """The task's own module, run by the worker in processes of its own. Inputs and outputs are made when first needed.

    Every method raises OracleError when the module fails, and may be called from several threads.
    """

    def __init__(self, worker: Worker, task: ModuleTask, seeds: int) -> None:
        self._worker, self._task, self._seeds = worker, task, seeds
        self._drawn = (*fresh(seeds), *unseen(seeds))
        self._guard = threading.Lock()
        self._files = ExitStack()
        self._inputs: Mapping[str, Path] | None = None
        self._expected: Expected | None = None

    def inputs(self, gpu: Gpu | None) -> Mapping[str, Path]:
        """ "inputs/<seed>/<number>.bin" and "inputs/arguments.json" -> the file."""
        with self._guard:
            if self._inputs is None:
                self._inputs = self.draw(self._drawn, gpu)
            return self._inputs

    def draw(self, seeds: Sequence[str], gpu: Gpu | None = None) -> Mapping[str, Path]:
        """The inputs of these seeds, in a new process."""
        with self._run("inputs", {}, gpu, seeds=seeds) as report:
            target = self._take(report.work / "out", "inputs")
        files = [*target.glob("inputs/*/*.bin"), target / "inputs" / "arguments.json"]
        return {path.relative_to(target).as_posix(): path for path in files}

    def again(self, gpu: Gpu | None) -> tuple[str, ...]:
        """The contents that are written over seed 0's arguments."""
        with self.inputs(gpu)["inputs/arguments.json"].open(encoding="utf-8") as file:
            return in_place(self._seeds, PERMUTED in json.load(file))

    def expected(self, gpu: Gpu | None) -> Expected:
        """The right outputs for every content. Ask for them after the candidate's first run: until then they do not exist."""
        inputs, again = self.inputs(gpu), self.again(gpu)
        contents = dict.fromkeys((*self._drawn, *again))
        with self._guard:
            if self._expected is None:
                rows, files, changed = self.forward(inputs, list(contents), again, gpu)
                stateful = not all(_alike(rows, files, f"again-{name}", name) for name in again)
                constant = all(_alike(rows, files, "0", name) for name in self._drawn[1:])
                self._expected = Expected(rows, files, changed, stateful, constant)
            return self._expected

    def forward(
        self, inputs: Mapping[str, Path], contents: Sequence[str], again: Sequence[str], gpu: Gpu | None = None
    ) -> tuple[Rows, Mapping[str, Sequence[Path]], tuple[int, ...]]:
        """What a call for each content returns, its tensors and their files, and the inputs that calls wrote into."""
        with self._run("forward", inputs, gpu, seeds=contents, again=again) as report:
            target = self._take(report.work / "out" / report.name, "expected")
        rows, files = report.record["outputs"], {}
        for label, found in rows.items():
            for row in found:
                if not is_comparable(row["dtype"]):
                    said = f"{row['name']} is {row['dtype']}, which cannot be compared"
                    raise OracleError(f"task {self._task.id}: {said}")
            files[label] = [target / "expected" / label / f"{number}.bin" for number in range(len(found))]
        return rows, files, tuple(report.record["changed_inputs"])

    def time(self, gpu: Gpu | None) -> float:
        """Seconds of a forward pass, the median of the timed calls."""
        with self._run("time", self.inputs(gpu), gpu, seeds=POOL, unseen=unseen(self._seeds)) as report:
            return median(report.record["times"])

    def close(self) -> None:
        """Remove the files."""
        with self._guard:
            self._files.close()
            self._inputs, self._expected = None, None

    @contextmanager
    def _run(
        self, action: str, inputs: Mapping[str, Path], gpu: Gpu | None, **names: Sequence[str]
    ) -> Iterator[Report]:
        """A run of the module; its folder goes when the block ends."""
        with scratch_folder() as folder:
            (folder / "answer.py").write_text(self._task.reference, encoding="utf-8", newline="\n")
            report = self._worker.run(folder, {"action": action, "model": "Model", **names}, inputs, gpu)
            if not report.done:
                said = report.error["message"] if report.error else report.first_error
                raise OracleError(f"task {self._task.id}: the reference's {action} failed: {said[-1000:]}")
            yield report

    def _take(self, left: Path, name: str) -> Path:
        """Move a folder that a run left to one that lasts until `close`; the folder around it."""
        target = self._files.enter_context(scratch_folder())
        left.rename(target / name)
        own_tree(target / name)
        return target


def _alike(rows: Rows, files: Mapping[str, Sequence[Path]], one: str, other: str) -> bool:
    """Whether the outputs for two contents pass for each other."""
    parts = [[(row["dtype"], row["shape"]) for row in rows[name]] for name in (one, other)]
    return parts[0] == parts[1] and all(
        module_distance(left, right, *part).close
        for left, right, part in zip(files[one], files[other], parts[0], strict=True)
    )
