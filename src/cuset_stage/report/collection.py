"""What a report is about: runs, tasks, and what a reader has to know of them. No reading, no statistics."""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray


INFRA_ERROR = "infra_error"
NO_ANSWER = "no_answer"  # the report's own: a task of the set, or a sample of it, without a line in a finished run
NOT_JUDGED = "not_judged"  # the report's own: the same in a run that was interrupted
UNANSWERED = "(unanswered "  # how the ids begin that stand for tasks of which only the number is known
CRITERIA = {"compiled": "Compilation", "passed": "Function"}  # the sample's key -> the paper's word (Table 2)
FIELDS = (
    *("task", "name", "family", "sample", "verdict", "compiled", "passed", "case", "message", "tokens"),
    *("prompt_tokens", "finish_reason", "compile_s", "compile_cached", "run_s", "overhead_s", "speedup"),
    *("reference_s", "kernel_s", "flags", "code_sha256", "compare_s", "cases", "same_as_sample"),
)
"""The columns of `Collection.lines`."""


@dataclass(frozen=True)
class Note:
    """A sentence about the data; loud ones change how the numbers are to be read."""

    text: str
    loud: bool = False


@dataclass(frozen=True)
class Run:
    """One method on one prompt level: what a row of Table 2 is made from."""

    label: str
    path: Path
    header: Mapping[str, Any]
    level: int
    samples: Mapping[tuple[str, int], Mapping[str, Any]]  # (task id, sample number) -> line of the results file
    planned: int | None  # lines on the tasks that the header asks for, when all are judged; None: not known
    present: int  # those of them that are there
    asked: frozenset[str] | None  # the ids of these tasks; None: those of all lines

    def told(self, key: str, inner: str) -> Any:
        """header[key][inner]; None where either is missing."""
        return (self.header.get(key) or {}).get(inner)

    @property
    def complete(self) -> bool:
        return self.planned is None or self.present >= self.planned

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
        known = self.complete and (self.asked is None or task in self.asked or task.startswith(UNANSWERED))
        return NO_ANSWER if known else NOT_JUDGED


@dataclass(frozen=True)
class TaskInfo:
    """A row of every per-task array."""

    id: str
    name: str
    family: str
    findings: tuple[str, ...] = ()  # of the audit: why its oracle is weak


@dataclass(frozen=True)
class Collection:
    """The runs of a report over one list of tasks."""

    runs: tuple[Run, ...]
    tasks: tuple[TaskInfo, ...]
    notes: tuple[Note, ...]
    audited: int | None  # how many of the tasks an audit covers; None: none was given
    audit_notes: Mapping[str, Mapping[str, str]]  # code -> task id -> message

    def measure(self, run: Run, value: Callable[[Mapping[str, Any]], float]) -> NDArray[np.float64]:
        """[T, S]: the value of each sample, 0 for an answer that was never given, NaN for what an interrupted run did not judge."""
        values = np.empty((len(self.tasks), run.width))
        for row, task in enumerate(self.tasks):
            values[row] = 0.0 if run.absence(task.id) == NO_ANSWER else np.nan
            for number in range(run.width):
                if sample := run.samples.get((task.id, number)):
                    values[row, number] = value(sample)
        return values

    def outcomes(self, run: Run, criterion: str) -> NDArray[np.float64]:
        """[T, S]: 1 and 0 as the sample's `compiled` or `passed`; NaN also for infra_error, unless the sample had compiled."""

        def outcome(sample: Mapping[str, Any]) -> float:
            known = sample["verdict"] != INFRA_ERROR or (criterion == "compiled" and sample["compiled"])
            return sample[criterion] if known else np.nan

        return self.measure(run, outcome)

    def lines(self, run: Run) -> pd.DataFrame:
        """The run's lines on the collection's tasks, in their order."""
        keys = ((task.id, number) for task in self.tasks for number in range(run.width))
        lines = (run.samples[key] for key in keys if key in run.samples)
        return pd.DataFrame([[line.get(field) for field in FIELDS] for line in lines], columns=FIELDS, dtype=object)

    def verdicts(self, run: Run) -> Counter[str]:
        """How many samples ended how, those without a line included."""
        return Counter(run.verdict(task.id, number) for task in self.tasks for number in range(run.width))

    @property
    def unflagged(self) -> NDArray[np.bool_]:
        """[T], False where the audit found the task's oracle weak."""
        return np.array([not task.findings for task in self.tasks], dtype=bool)

    @property
    def criteria(self) -> list[str]:
        """What the runs were judged on; without `passed` when every run only compiled."""
        return ["compiled"] if all(run.compile_only for run in self.runs) else list(CRITERIA)
