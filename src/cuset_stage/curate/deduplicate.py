"""Stage `deduplicate`: no row from a benchmark, no kernel twice, before anything is asked of a model or run.

Rows are compared by the fingerprints that `split` made. Of kernels near ones are duplicates; of tasks with an answer only equal ones,
as a wrong answer may be near a right one: `select` compares those that were proved. The stage depends on all rows together, has little
to do for each, and is always done afresh. Beside the usual files it writes contamination.jsonl, with every row that was found in a
benchmark.
"""

from __future__ import annotations

import json
from array import array
from itertools import count

import numpy as np

from ..files import write_atomically
from ..progress import Progress
from .contamination import Benchmarks, Contamination
from .fingerprints import Sketches, device_sketch, fingerprints_of
from .folders import input_rows
from .settings import DeduplicateSettings
from .split import is_whole
from .stage import Kept, Summary, run_stage
from .stage_rows import Row, RowError, StageRows, number_of


def run_deduplicate(settings: DeduplicateSettings) -> Summary:
    """Take duplicates and what comes from benchmarks out of what `split` left, into `folder`/deduplicate/.

    Raises:
        CurationError: a benchmark cannot be read.
    """
    rows = input_rows(settings, "split")
    benchmarks = Benchmarks(settings.against)
    decided = _Decided(rows, settings, benchmarks)
    numbers = count()
    folder = settings.folder / "deduplicate"
    keys = settings.model_dump(exclude={"folder", "input", "against"})
    summary = run_stage(
        folder,
        "deduplicate",
        rows,
        lambda row: decided.checked(next(numbers), row),
        settings={**keys, "against": benchmarks.record},
    )
    records = ({"id": decided.names[number], **vars(match)} for number, match in decided.contaminated.items())
    write_atomically(folder / "contamination.jsonl", (f"{json.dumps(record)}\n" for record in records))
    return summary


class _Decided:
    """The decision about each row, by its number in the order in which rows are read. Memory holds its name and a few numbers."""

    def __init__(self, rows: StageRows, settings: DeduplicateSettings, benchmarks: Benchmarks) -> None:
        self.names, self.contaminated = list[str](), dict[int, Contamination]()
        sketches = Sketches(settings.near, settings.folder)
        programs, whole = array("Q"), array("b")
        for item in Progress(rows.distinct(), desc="compare", unit="row", total=rows.total):
            row, number = item.row, len(programs)
            fingerprints = fingerprints_of(row)
            if (match := benchmarks.find(row)) is not None:
                self.contaminated[number] = match
            self.names.append(row["id"])
            programs.append(number_of(fingerprints["program"]))
            whole.append(is_whole(row))
            sketches.append(None if whole[-1] else device_sketch(fingerprints))
        clean = np.ones(len(programs), bool)
        clean[list(self.contaminated)] = False
        order = np.argsort(-np.frombuffer(whole, np.int8), kind="stable")  # a kernel gives way to a task
        order = order[clean[order]]
        _, first, group = np.unique(np.frombuffer(programs, np.uint64)[order], return_index=True, return_inverse=True)
        self._same = np.full(len(programs), -1, np.int64)
        self._same[order] = order[first[group]]
        order = order[self._same[order] == order]
        self._like, self._how = sketches.duplicates(order) if settings.near < 1 else (np.full(len(programs), -1), None)

    def checked(self, number: int, row: Row) -> Kept:
        if number in self.contaminated:
            raise RowError("contaminated", str(self.contaminated[number]))
        same, like = int(self._same[number]), int(self._like[number])
        if same != number:
            raise RowError("duplicate", f"the same as {self.names[same]} but for comments, layout and names")
        if like >= 0:
            raise RowError(
                "duplicate_near", f"its kernel is like that of {self.names[like]} (similarity {self._how[number]:.2f})"
            )
        return Kept(row)
