"""Results files to one collection: the runs of a report on the tasks they share, and what a reader has to know about them."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..results import ResultsError, read_results
from .audit import read_audit


INFRA_ERROR = "infra_error"
NO_ANSWER = "no_answer"  # the report's own: a task of the set, or a sample of it, without a line in a finished run
NOT_JUDGED = "not_judged"  # the report's own: the same in a run that was interrupted
CRITERIA = {"compiled": "Compilation", "passed": "Function"}  # the sample's key -> the paper's word (Table 2)


class ReportError(ValueError):
    """The results cannot be reported together; the message names the files and the way out."""


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
            return NO_ANSWER if self.complete else NOT_JUDGED
        return str(sample["verdict"])


@dataclass(frozen=True)
class Collection:
    """The runs of a report over one list of tasks."""

    runs: tuple[Run, ...]
    tasks: tuple[TaskInfo, ...]
    notes: tuple[Note, ...] = field(default=())
    audited: bool = False

    def outcomes(self, run: Run, criterion: str) -> NDArray[np.float64]:
        """[T, S]: 1 and 0 as the sample's `compiled` or `passed`; NaN for infra_error and for samples of an interrupted run that
        were not judged; 0 for an answer that was never given.
        """
        values = np.full((len(self.tasks), run.width), 0.0 if run.complete else np.nan)
        for row, task in enumerate(self.tasks):
            for number in range(run.width):
                sample = run.samples.get((task.id, number))
                if sample is not None:
                    values[row, number] = (
                        np.nan if sample["verdict"] == INFRA_ERROR else float(bool(sample[criterion]))
                    )
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


def collect(paths: Sequence[Path], *, audit: Path | None = None, intersect: bool = False) -> Collection:
    """Read results files and put their runs on one list of tasks.

    A file with several prompt levels gives a run for each. Runs on different task sets are refused, or with `intersect` reduced to
    the tasks that all of them hold. ReportError or ResultsError name the file and the way out.
    """
    if not paths:
        raise ReportError("no results file: give at least one that `cuset evaluate` wrote.")
    notes: list[Note] = []
    runs = _unique([run for path in paths for run in _read(Path(path), notes)], notes)
    different = _different_sets(runs)
    if different and not intersect:
        raise ReportError(
            f"the runs are on different task sets ({different}), so their numbers do not compare. Report them apart, or give "
            "--intersect to use only the tasks whose ids all of them hold."
        )
    findings: dict[str, list[str]] = {}
    for source in [*(run.header.get("findings") or {} for run in runs), read_audit(Path(audit)) if audit else {}]:
        for task, texts in source.items():
            known = findings.setdefault(str(task), [])
            known += [text for text in texts if text not in known]
    if different:
        tasks = _shared_tasks(runs, findings)
        notes.append(
            Note(
                f"The runs are on different task sets ({different}). Only the {len(tasks)} tasks whose ids all of them hold are "
                "counted; whether these are the same tasks is not checked, and an unanswered task drops out.",
                loud=True,
            )
        )
    else:
        tasks = _all_tasks(runs, findings)
    if not tasks:
        raise ReportError("no task is in all the runs: there is nothing to report. Check that they belong together.")
    collection = Collection(tuple(runs), tasks, (), bool(audit) or bool(findings))
    notes += _run_notes(collection)
    notes += _setting_notes(runs)
    return Collection(collection.runs, tasks, tuple(notes), collection.audited)


def _read(path: Path, notes: list[Note]) -> list[Run]:
    results = read_results(path)
    header = results.run
    by_level: dict[int, dict[tuple[str, int], Mapping[str, Any]]] = {}
    replaced = 0
    for line, sample in enumerate(results.samples, start=2):
        missing = [key for key in ("task", "sample", "verdict", "compiled", "passed") if key not in sample]
        if missing:
            raise ResultsError(
                f"{path}: sample {line - 1} has no {', '.join(missing)}: not written by `cuset evaluate`."
            )
        level = by_level.setdefault(int(sample.get("level") or 1), {})
        key = (str(sample["task"]), int(sample["sample"]))
        replaced += key in level
        level[key] = {**sample, "task": key[0]}  # another code under one number: the line written later stands
    if replaced:
        notes.append(
            Note(
                f"{path.name}: {replaced} samples were judged with more than one code; the last of each counts.",
                loud=True,
            )
        )
    if not by_level:
        by_level[int((header.get("tasks") or {}).get("level") or 1)] = {}
    expected = _expected_samples(header)
    complete = expected is None or sum(map(len, by_level.values())) + replaced >= expected
    label = str(header.get("method") or header.get("run") or path.stem)
    return [
        Run(f"{label} (level {level})" if len(by_level) > 1 else label, path, header, level, samples, complete)
        for level, samples in sorted(by_level.items())
    ]


def _expected_samples(header: Mapping[str, Any]) -> int | None:
    """How many lines a finished run has; None when the header does not tell, as for one split or level of an answers file."""
    answers, tasks = header.get("answers") or {}, header.get("tasks") or {}
    if answers.get("chosen") is not None:
        return int(answers["chosen"])
    if answers.get("count") is None or tasks.get("split") is not None or tasks.get("level") is not None:
        return None
    return int(answers["count"])


def _unique(runs: list[Run], notes: list[Note]) -> list[Run]:
    """The same runs with labels that tell them apart: by model, by the run's name, at last by number."""
    for addition in (
        lambda run: run.model,
        lambda run: str(run.header.get("run") or ""),
        lambda run: run.path.parent.name,
    ):
        count = Counter(run.label for run in runs)
        clash = [run for run in runs if count[run.label] > 1]
        if clash and len({addition(run) for run in clash}) > 1:
            runs = [
                replace(run, label=f"{run.label}, {addition(run)}") if count[run.label] > 1 and addition(run) else run
                for run in runs
            ]
    count, seen = Counter(run.label for run in runs), Counter()
    numbered = []
    for run in runs:
        seen[run.label] += 1
        numbered.append(replace(run, label=f"{run.label} #{seen[run.label]}") if count[run.label] > 1 else run)
    paths = Counter((run.path.resolve(), run.level) for run in runs)
    if twice := sorted({path.name for (path, _), number in paths.items() if number > 1}):
        raise ReportError(f"{', '.join(twice)}: given more than once; name each results file once.")
    return numbered


def _different_sets(runs: Sequence[Run]) -> str:
    """Empty when all runs are on one set, else what tells the sets apart."""
    sets: dict[tuple[Any, Any], list[str]] = {}
    for run in runs:
        tasks = run.header.get("tasks") or {}
        sets.setdefault((tasks.get("sha256"), tasks.get("split"), tasks.get("count")), []).append(run.label)
    if len(sets) < 2:
        return ""
    return "; ".join(
        f"{', '.join(labels)}: {count} tasks{f' of split {split}' if split else ''}, SHA-256 {str(digest)[:12]}"
        for (digest, split, count), labels in sets.items()
    )


def natural_key(text: str) -> list[tuple[int, int | str]]:
    """Sorts "task 10" behind "task 9"."""
    return [
        (0, int(part)) if part.isdigit() and part.isascii() else (1, part)
        for part in re.split(r"([0-9]+)", text)
        if part
    ]


def _infos(ids: Iterable[str], runs: Sequence[Run], findings: Mapping[str, Sequence[str]]) -> tuple[TaskInfo, ...]:
    named: dict[str, Mapping[str, Any]] = {}
    for run in runs:
        for (task, _), sample in run.samples.items():
            named.setdefault(task, sample)
    return tuple(
        TaskInfo(
            task,
            str(named[task].get("name") or task),
            str(named[task].get("family") or "unknown"),
            tuple(findings.get(task, ())),
        )
        for task in sorted(ids, key=natural_key)
    )


def _all_tasks(runs: Sequence[Run], findings: Mapping[str, Sequence[str]]) -> tuple[TaskInfo, ...]:
    """Every task that a run speaks of, then one row for each that the header counts and no run speaks of."""
    tasks = _infos({task for run in runs for task, _ in run.samples}, runs, findings)
    count = int((runs[0].header.get("tasks") or {}).get("count") or 0)
    silent = range(1, count - len(tasks) + 1)
    return tasks + tuple(TaskInfo(f"(unanswered {n})", "no answer in any run", "unknown", (), False) for n in silent)


def _shared_tasks(runs: Sequence[Run], findings: Mapping[str, Sequence[str]]) -> tuple[TaskInfo, ...]:
    return _infos(set.intersection(*({task for task, _ in run.samples} for run in runs)), runs, findings)


def _run_notes(collection: Collection) -> Iterable[Note]:
    """What moves the numbers of single runs; one note a kind, naming the runs."""
    told: dict[str, list[str]] = {}

    def tell(text: str, run: Run, detail: str) -> None:
        told.setdefault(text, []).append(f"{run.label} {detail}")

    for run in collection.runs:
        cells = Counter(run.verdict(task.id, number) for task in collection.tasks for number in range(run.width))
        total = len(collection.tasks) * run.width
        count = int((run.header.get("tasks") or {}).get("count") or 0)
        if cells[INFRA_ERROR]:
            tasks = len({task for (task, _), sample in run.samples.items() if sample["verdict"] == INFRA_ERROR})
            detail = f"{cells[INFRA_ERROR]} of {total} samples, on {tasks} {'task' if tasks == 1 else 'tasks'}"
            tell(
                "The judge itself failed (infra_error): {}. These samples are charged to nobody: a task is left out of each number that "
                "needs one of them. Judge them again before you publish.",
                run,
                detail,
            )
        if cells[NOT_JUDGED]:
            tell(
                "Not finished: {}. The numbers are of the judged samples and will change.",
                run,
                f"{cells[NOT_JUDGED]} of {total} samples not judged",
            )
        if cells[NO_ANSWER]:
            tell(
                "Samples without an answer: {}. They count as failures, so that leaving out hard tasks cannot raise a number.",
                run,
                f"{cells[NO_ANSWER]} of {total}",
            )
        if flagged := sum(bool(sample.get("flags")) for sample in collection.judged(run)):
            tell(
                "Samples with a suspicion of the judge: {}. Look at them before you quote a number.", run, str(flagged)
            )
        if (extra := len({task for task, _ in run.samples}) - count) > 0:
            tell(
                "More tasks in the results than the run was asked for, left from another --split or --limit: {}. They are counted; judge "
                "into a file of its own to keep them out.",
                run,
                f"{extra} beyond {count}",
            )
    return [Note(text.format("; ".join(details)), loud=True) for text, details in told.items()]


def _setting_notes(runs: Sequence[Run]) -> Iterable[Note]:
    """What differs between runs and may move the numbers although the method is the same."""

    def shown(value: Any) -> str:
        return json.dumps(value, sort_keys=True) if isinstance(value, (dict, list)) else str(value)

    for name, value in {
        "GPU": lambda run: ", ".join(sorted({str(gpu.get("name")) for gpu in run.header.get("gpus") or []})) or None,
        "CUDA toolkit": lambda run: run.header.get("toolkit"),
        "architecture": lambda run: run.header.get("arch"),
        "compiler flags": lambda run: " ".join(run.header.get("flags") or []),
        "limits": lambda run: shown(run.header.get("limits")),
        "isolation": lambda run: run.header.get("isolation"),
        "prompt level": lambda run: run.level,
        "samples a task": lambda run: run.width,
        "version of cuset-stage": lambda run: run.header.get("cuset_stage"),
        "compile-only": lambda run: run.compile_only,
    }.items():
        values: dict[str, list[str]] = {}
        for run in runs:
            values.setdefault(shown(value(run)), []).append(run.label)
        if len(values) > 1:
            parts = "; ".join(f"{', '.join(labels)}: {text}" for text, labels in values.items())
            yield Note(f"The runs differ in {name} ({parts}).")
