"""What a report is about: runs, tasks, and what a reader has to know of them. No reading, no statistics."""

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
NO_ANSWER = "no_answer"  # the report's own: a task of the set, or a sample of it, without a line in a finished run
NOT_JUDGED = "not_judged"  # the report's own: the same in a run that was interrupted
CRITERIA = {"compiled": "Compilation", "passed": "Function"}  # the sample's key -> the paper's word (Table 2)
FIELDS = (
    *("task", "name", "family", "sample", "verdict", "compiled", "passed", "case", "message", "tokens"),
    *("prompt_tokens", "finish_reason", "compile_s", "compile_cached", "run_s", "overhead_s", "speedup"),
    *("reference_s", "kernel_s", "flags", "code_sha256", "compare_s", "cases", "same_as_sample"),
)


class ReportError(InputError):
    """The results cannot be reported together; the message names the files and the fix."""


@dataclass(frozen=True)
class Note:
    """A sentence about the data; loud ones change how the numbers are to be read."""

    text: str
    loud: bool = False


@dataclass(frozen=True)
class TaskInfo:
    """A row of every per-task array."""

    id: str
    name: str
    family: str
    findings: tuple[str, ...] = ()  # of the audit: why its oracle is weak


@dataclass(frozen=True)
class Run:
    """One method on one prompt level: what a row of Table 2 is made from."""

    label: str
    path: Path
    header: Mapping[str, Any]
    level: int
    samples: Mapping[tuple[str, int], Mapping[str, Any]]  # (task id, sample number) -> line of the results file
    asked: frozenset[str]  # the ids of the tasks that the header asks for
    planned: int | None  # lines on these, when all are judged; None: not known
    tasks: tuple[TaskInfo, ...] = ()  # those of the report, which all of its runs share

    def told(self, *keys: str) -> Any:
        """What the header holds behind these keys, one in another; None where one is missing."""
        value: Any = self.header
        for key in keys:
            value = (value or {}).get(key)
        return value

    @cached_property
    def judged(self) -> frozenset[str]:
        """The ids of the tasks with a line."""
        return frozenset(task for task, _ in self.samples)

    @cached_property
    def missing(self) -> int:
        """How many of the planned lines are not there."""
        return max(0, (self.planned or 0) - sum(task in self.asked for task, _ in self.samples))

    @cached_property
    def width(self) -> int:
        """S, the samples a task: the largest sample number and one."""
        return 1 + max((number for _, number in self.samples), default=-1)

    @property
    def compile_only(self) -> bool:
        return bool(self.header.get("compile_only"))

    @property
    def model(self) -> str:
        model = self.told("generation", "model") or ""
        return ", ".join(map(str, model)) if isinstance(model, list) else str(model)

    def offers(self, criterion: str, k: int) -> bool:
        """Whether it has k samples a task, judged on the criterion."""
        return self.width >= k and not (criterion == "passed" and self.compile_only)

    def verdict(self, task: str, number: int) -> str:
        """The verdict of a sample, NO_ANSWER or NOT_JUDGED where there is no line."""
        sample = self.samples.get((task, number))
        return self.absence(task) if sample is None else sample["verdict"]

    def absence(self, task: str) -> str:
        """What it means that a sample of the task has no line: of a task left from another split nothing is known."""
        return NO_ANSWER if task in self.asked and not self.missing else NOT_JUDGED

    @cached_property
    def table(self) -> pd.DataFrame:
        """T x S rows in the order of the tasks: lines of the results file, and a row where there is none.

        There `judged` is False, `verdict` NO_ANSWER or NOT_JUDGED, and outcomes are 0 or, when not judged, None.
        """
        rows = []
        for task, number in itertools.product(self.tasks, range(self.width)):
            if line := self.samples.get((task.id, number)):
                rows.append({**line, "judged": True})
            else:
                verdict = self.absence(task.id)
                outcome = 0.0 if verdict == NO_ANSWER else None
                nothing = {"verdict": verdict, "compiled": outcome, "passed": outcome, "judged": False}
                rows.append({"task": task.id, "sample": number, **nothing})
        return pd.DataFrame(rows, columns=[*FIELDS, "judged"], dtype=object)

    @cached_property
    def lines(self) -> pd.DataFrame:
        """The rows of `table` that are lines of the results file."""
        return self.table[self.table["judged"].astype(bool)]

    def outcomes(self, criterion: str) -> NDArray[np.float64]:
        """[T, S]: `compiled` or `passed` as 1 and 0, NaN where it is not known: of an infra_error only that it had compiled."""
        values = self.table[criterion].astype(float)
        unknown = self.table["verdict"].eq(INFRA_ERROR) & ~(values.gt(0) & (criterion == "compiled"))
        return values.mask(unknown).to_numpy().reshape(len(self.tasks), self.width)

    @cached_property
    def verdicts(self) -> Counter[str]:
        """How many samples ended how, those without a line included."""
        return Counter(self.table["verdict"])


@dataclass(frozen=True)
class Collection:
    """The runs of a report over one list of tasks."""

    runs: tuple[Run, ...]
    tasks: tuple[TaskInfo, ...]
    notes: tuple[Note, ...]
    audited: int  # how many of the tasks an audit covers

    @cached_property
    def clusters(self) -> NDArray[np.int64] | None:
        """The number of each task's operation, [T], of CUDABench, which asks for one at several sizes; None for other task sets."""
        if prompts_of(self.runs[0].header) is None:
            return None
        return np.unique([task.family for task in self.tasks], return_inverse=True)[1]

    @property
    def criteria(self) -> list[str]:
        """What the runs were judged on; without `passed` when every run only compiled."""
        return ["compiled"] if all(run.compile_only for run in self.runs) else list(CRITERIA)
