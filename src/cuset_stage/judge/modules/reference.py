"""What all answers to a module task are held against: inputs and right outputs, made by the task's own module."""

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import median

from ...sandbox import Gpu, scratch_folder
from ...tasks import ModuleTask
from ..closeness import is_comparable
from ..oracle_runs import OracleError
from .calls import PERMUTED, POOL, Expected, Saved, fresh, in_place, unseen
from .runs import Report, Worker, own_tree


class Reference:
    """The task's own module, run by the worker in processes of its own. Inputs and outputs are made when first needed.

    Every method raises OracleError when the module fails, and may be called from several threads.
    """

    def __init__(self, worker: Worker, task: ModuleTask) -> None:
        self._worker, self._task, self._seeds = worker, task, worker.seeds
        self._drawn = (*fresh(worker.seeds), *unseen(worker.seeds))
        self._guard = threading.Lock()
        self._files = ExitStack()
        self._inputs: Mapping[str, Path] | None = None
        self._expected: Expected | None = None

    def inputs(self, gpu: Gpu | None) -> Mapping[str, Path]:
        """ "inputs/<content>/<number>.bin" and "inputs/<content>/arguments.json" -> the file."""
        with self._guard:
            if self._inputs is None:
                self._inputs = self.draw(self._drawn, gpu)
            return self._inputs

    def draw(self, seeds: Sequence[str], gpu: Gpu | None = None) -> Mapping[str, Path]:
        """The inputs of these seeds, in a new process."""
        with self._run("inputs", {}, gpu, seeds=seeds) as report:
            target = self._take(report.work / "out", "inputs")
        return {path.relative_to(target).as_posix(): path for path in target.glob("inputs/*/*")}

    def again(self, gpu: Gpu | None) -> tuple[str, ...]:
        """The contents that are written over seed 0's arguments."""
        return in_place(self._seeds, f"inputs/{PERMUTED}/0.bin" in self.inputs(gpu))

    def expected(self, gpu: Gpu | None) -> Expected:
        """The right outputs for every content. Ask for them after the candidate's first run: until then they do not exist."""
        inputs, again = self.inputs(gpu), self.again(gpu)
        contents = dict.fromkeys((*self._drawn, *again))
        with self._guard:
            if self._expected is None:
                outputs, changed = self.forward(inputs, list(contents), again, gpu)
                stateful = not all(_alike(outputs[f"again-{name}"], outputs[name]) for name in again)
                constant = all(_alike(outputs["0"], outputs[name]) for name in self._drawn[1:])
                self._expected = Expected(outputs, changed, stateful, constant)
            return self._expected

    def forward(
        self, inputs: Mapping[str, Path], contents: Sequence[str], again: Sequence[str], gpu: Gpu | None = None
    ) -> tuple[Mapping[str, list[Saved]], list[int]]:
        """What the calls return, by label, and the inputs that they wrote into."""
        with self._run("forward", inputs, gpu, seeds=contents, again=again) as report:
            target = self._take(report.work / "out" / report.name, "expected")
        outputs = {
            label: [Saved(**row, path=target / "expected" / label / f"{n}.bin") for n, row in enumerate(rows)]
            for label, rows in report.record["outputs"].items()
        }
        for row in (row for rows in outputs.values() for row in rows):
            if not is_comparable(row.dtype):
                raise OracleError(f"task {self._task.id}: {row.name} is {row.dtype}, which cannot be compared")
        return outputs, report.record["changed_inputs"]

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


def _alike(one: Sequence[Saved], other: Sequence[Saved]) -> bool:
    """Whether the outputs of two calls pass for each other."""
    parts = [[(row.dtype, row.shape) for row in rows] for rows in (one, other)]
    return parts[0] == parts[1] and all(a.distance(b.path).close for a, b in zip(one, other, strict=True))
