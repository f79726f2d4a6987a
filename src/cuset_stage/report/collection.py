"""The data of a report: runs, tasks, and notes for the reader.

Files are read in `collect`, and statistics are computed in `numbers`.
"""

import itertools
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..tasks.messages import prompts_of
from ..text import InputError


INFRA_ERROR = "infra_error"
# Verdicts that only the report gives, to a task or sample without a line in the results file:
NO_ANSWER = "no_answer"  # in a finished run
NOT_JUDGED = "not_judged"  # in a run that is not finished
CRITERIA = {"compiled": "Compilation", "passed": "Function"}  # key of a sample -> name in the paper (Table 2)
CSV_FIELDS = (
    *("task", "name", "family", "sample", "verdict", "compiled", "passed", "case", "message", "tokens"),
    *("prompt_tokens", "finish_reason", "compile_s", "compile_cached", "run_s", "overhead_s", "speedup"),
    *("reference_s", "kernel_s", "flags", "code_sha256"),
)
"""Keys of a line of the results file that samples.csv has."""


class ReportError(InputError):
    """The results cannot be reported together. The message names the files and the fix."""


@dataclass(frozen=True)
class Note:
    """A note to the reader about the data.

    Attributes:
        text: one or more sentences.
        loud: whether the note changes how the numbers must be read.
    """

    text: str
    loud: bool = False


@dataclass(frozen=True)
class TaskInfo:
    """A task of the report. Each per-task array has one row per task.

    Attributes:
        id: id of the task.
        name: name that readers see.
        family: group of related tasks, "unknown" if the results do not say. For CUDABench this is the operation.
        findings: findings of the audit: why the oracle of the task is weak.
    """

    id: str
    name: str
    family: str
    findings: tuple[str, ...] = ()


@dataclass(frozen=True)
class Run:
    """One method at one prompt level. A row of Table 2 is made from it.

    Attributes:
        label: unique name of the run in the report.
        path: its results file.
        header: header of the results file.
        level: prompt level.
        samples: line of the results file by (task id, sample number).
        asked: ids of the tasks that the header asks for.
        planned: number of lines that these tasks will have when all samples are judged. None if it is not known.
        tasks: tasks of the report, the same for all of its runs.
    """

    label: str
    path: Path
    header: Mapping[str, Any]
    level: int
    samples: Mapping[tuple[str, int], Mapping[str, Any]]
    asked: frozenset[str]
    planned: int | None
    tasks: tuple[TaskInfo, ...] = ()

    def told(self, *keys: str) -> Any:
        """Return the header's value under these nested keys, or None if one of them is missing."""
        value: Any = self.header
        for key in keys:
            value = (value or {}).get(key)
        return value

    @cached_property
    def judged(self) -> frozenset[str]:
        """Ids of the tasks that have at least one line."""
        return frozenset(task for task, _ in self.samples)

    @cached_property
    def missing(self) -> int:
        """Number of planned lines that are missing. 0 if it is not known how many are planned."""
        return max(0, (self.planned or 0) - sum(task in self.asked for task, _ in self.samples))

    @cached_property
    def width(self) -> int:
        """Number of samples per task, S: the largest sample number plus one."""
        return 1 + max((number for _, number in self.samples), default=-1)

    @property
    def compile_only(self) -> bool:
        """Whether the answers were only compiled and not run."""
        return bool(self.header.get("compile_only"))

    @property
    def model(self) -> str:
        """Name of the model that generated the answers, empty if the header does not say."""
        model = self.told("generation", "model") or ""
        return ", ".join(map(str, model)) if isinstance(model, list) else str(model)

    def offers(self, criterion: str, k: int) -> bool:
        """Return whether the run has at least k samples per task and was judged by the criterion."""
        return self.width >= k and not (criterion == "passed" and self.compile_only)

    def verdict(self, task: str, number: int) -> str:
        """Return the verdict of a sample.

        If it has no line, this is NO_ANSWER if the run asked for the task and is finished, otherwise NOT_JUDGED.
        Nothing is known of tasks that are left from another split.
        """
        if line := self.samples.get((task, number)):
            return line["verdict"]
        return NO_ANSWER if task in self.asked and not self.missing else NOT_JUDGED

    @cached_property
    def table(self) -> pd.DataFrame:
        """One row per task and sample, T x S rows, in the order of the tasks.

        A row is a line of the results file with `judged` set to True. A sample without a line gets a row as well:
        there `judged` is False, `verdict` is NO_ANSWER or NOT_JUDGED, and the outcomes are 0 (no answer) or None (not
        judged).
        """
        rows = []
        for task, number in itertools.product(self.tasks, range(self.width)):
            line, verdict = self.samples.get((task.id, number)), self.verdict(task.id, number)
            outcome = 0.0 if verdict == NO_ANSWER else None
            absent = {"task": task.id, "sample": number, "verdict": verdict, "compiled": outcome, "passed": outcome}
            rows.append({**(line or absent), "judged": line is not None})
        return pd.DataFrame(rows, columns=[*CSV_FIELDS, "compare_s", "same_as_sample", "judged"], dtype=object)

    @cached_property
    def lines(self) -> pd.DataFrame:
        """Those rows of `table` that are lines of the results file."""
        return self.table[self.table["judged"].astype(bool)]

    def outcomes(self, criterion: str) -> NDArray[np.float64]:
        """Return the outcomes by a criterion, `compiled` or `passed`.

        Returns:
            [T, S], 1 or 0, NaN where the outcome is not known. If the judge itself failed (infra_error), only one
            thing can be known: that the program had compiled.
        """
        values = self.table[criterion].astype(float)
        unknown = self.table["verdict"].eq(INFRA_ERROR) & ~(values.gt(0) & (criterion == "compiled"))
        return values.mask(unknown).to_numpy().reshape(len(self.tasks), self.width)

    @cached_property
    def verdicts(self) -> Counter[str]:
        """Number of samples by verdict, including the samples without a line."""
        return Counter(self.table["verdict"])


@dataclass(frozen=True)
class Collection:
    """The runs of a report on one list of tasks.

    Attributes:
        runs: the runs.
        tasks: the tasks, in the order of all per-task arrays.
        notes: notes for the reader.
        audited: number of tasks that an audit covers.
    """

    runs: tuple[Run, ...]
    tasks: tuple[TaskInfo, ...]
    notes: tuple[Note, ...]
    audited: int

    @cached_property
    def clusters(self) -> NDArray[np.int64] | None:
        """Number of each task's operation, [T], for CUDABench, which asks for every operation at several sizes.

        None for other task sets, whose tasks are independent of each other.
        """
        if prompts_of(self.runs[0].header) is None:
            return None
        return np.unique([task.family for task in self.tasks], return_inverse=True)[1]

    @property
    def criteria(self) -> list[str]:
        """Criteria by which the runs were judged. Without `passed` if every run only compiled."""
        return ["compiled"] if all(run.compile_only for run in self.runs) else list(CRITERIA)
