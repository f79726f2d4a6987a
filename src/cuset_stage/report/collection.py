"""What a report is about: runs, tasks, and what a reader has to know of them. No reading, no numbers."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray


INFRA_ERROR = "infra_error"
NO_ANSWER = "no_answer"  # the report's own: a task of the set, or a sample of it, without a line in a finished run
NOT_JUDGED = "not_judged"  # the report's own: the same in a run that was interrupted
UNANSWERED = "(unanswered "  # how the ids begin that stand for tasks of which only the number is known
CRITERIA = {"compiled": "Compilation", "passed": "Function"}  # the sample's key -> the paper's word (Table 2)


@dataclass(frozen=True)
class Note:
    """A sentence about the data; loud ones change how the numbers are to be read."""

    text: str
    loud: bool = False


@dataclass(frozen=True)
class TaskInfo:
    """A row of every per-task array. `known` is False for tasks of the set that no run says anything about."""

    id: str
    name: str
    family: str
    findings: tuple[str, ...] = ()  # of the audit: why its oracle is weak
    known: bool = True


@dataclass(frozen=True)
class Run:
    """One method on one prompt level: what a row of Table 2 is made from."""

    label: str
    path: Path
    header: Mapping[str, Any]
    level: int
    samples: Mapping[tuple[str, int], Mapping[str, Any]]  # (task id, sample number) -> line of the results file
    complete: bool
    planned: int | None = None  # lines on the tasks that the header asks for, when all are judged; None: not known
    present: int = 0  # those of them that are there
    asked: frozenset[str] | None = None  # the ids of these tasks; None: those of all lines

    @property
    def width(self) -> int:
        """S, the samples a task: the largest sample number and one."""
        return 1 + max((number for _, number in self.samples), default=-1)

    @property
    def compile_only(self) -> bool:
        return bool(self.header.get("compile_only"))

    @property
    def model(self) -> str:
        model = (self.header.get("generation") or {}).get("model") or ""
        return ", ".join(map(str, model)) if isinstance(model, list) else str(model)

    def verdict(self, task: str, number: int) -> str:
        """The verdict of a sample, NO_ANSWER or NOT_JUDGED where there is no line."""
        sample = self.samples.get((task, number))
        if sample is None:
            return self.absence(task)
        return str(sample["verdict"])

    def absence(self, task: str) -> str:
        """What it means that a sample of the task has no line: of a task left from another --split nothing is known."""
        known = self.complete and (self.asked is None or task in self.asked or task.startswith(UNANSWERED))
        return NO_ANSWER if known else NOT_JUDGED


@dataclass(frozen=True)
class Collection:
    """The runs of a report over one list of tasks."""

    runs: tuple[Run, ...]
    tasks: tuple[TaskInfo, ...]
    notes: tuple[Note, ...] = field(default=())
    audited: int | None = None  # how many of the tasks an audit covers; None: none was given
    audit_notes: Mapping[str, Mapping[str, str]] = field(default_factory=dict)  # code -> task id -> message

    def outcomes(self, run: Run, criterion: str) -> NDArray[np.float64]:
        """[T, S]: 1 and 0 as the sample's `compiled` or `passed`; NaN where it is not known: for samples of an interrupted run that
        were not judged, and for infra_error, unless the sample had compiled by then; 0 for an answer that was never given.
        """
        values = np.empty((len(self.tasks), run.width))
        for row, task in enumerate(self.tasks):
            values[row] = 0.0 if run.absence(task.id) == NO_ANSWER else np.nan
            for number in range(run.width):
                sample = run.samples.get((task.id, number))
                if sample is not None:
                    known = sample["verdict"] != INFRA_ERROR or (criterion == "compiled" and sample["compiled"])
                    values[row, number] = float(sample[criterion]) if known else np.nan
        return values

    def judged(self, run: Run) -> Iterable[Mapping[str, Any]]:
        """The run's lines on the collection's tasks, in their order."""
        for task in self.tasks:
            for number in range(run.width):
                sample = run.samples.get((task.id, number))
                if sample is not None:
                    yield sample

    @property
    def unflagged(self) -> NDArray[np.bool_]:
        """[T], False where the audit found the task's oracle weak."""
        return np.array([not task.findings for task in self.tasks], dtype=bool)

    @property
    def criteria(self) -> list[str]:
        """What the runs were judged on; without `passed` when every run only compiled."""
        return ["compiled"] if all(run.compile_only for run in self.runs) else list(CRITERIA)
