"""Results files to one collection: the runs of a report on the tasks they share."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from .audit import AuditFile, read_audit_file
from .collection import UNANSWERED, Collection, Note, Run, TaskInfo
from .notes import audit_file_notes, coverage_note, oracle_notes, run_notes, setting_notes
from .read import read_runs


class ReportError(ValueError):
    """The results cannot be reported together; the message names the files and the way out."""


def collect(paths: Sequence[Path], *, audit: Path | None = None, intersect: bool = False) -> Collection:
    """Read results files and put their runs on one list of tasks.

    A file with several prompt levels gives a run for each. Runs on different task sets are refused, or with `intersect` reduced to
    the tasks that all of them hold. ReportError or ResultsError name the file and the way out.
    """
    if not paths:
        raise ReportError("no results file: give at least one that `cuset evaluate` wrote.")
    notes: list[Note] = []
    runs = _unique([run for path in paths for run in read_runs(Path(path), notes)])
    different = _different_sets(runs)
    if different and not intersect:
        raise ReportError(
            f"the runs are on different task sets ({different}), so their numbers do not compare. Report them apart, or give "
            "--intersect to use only the tasks whose ids all of them hold."
        )
    audited = read_audit_file(Path(audit)) if audit else AuditFile()
    findings: dict[str, list[str]] = {}
    for source in [*(run.header.get("findings") or {} for run in runs), audited.findings]:
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
    here = {task.id for task in tasks}
    silent = sum(task.id.startswith(UNANSWERED) for task in tasks)
    # Of tasks without an id only the number is known; the audit's further ids may be theirs.
    of_file = len(audited.audited & here) + min(silent, len(audited.audited - here))
    seen = max(of_file, min(int(run.header.get("audited") or 0) for run in runs))
    seen = max(seen, sum(bool(task.findings) for task in tasks))
    covered = min(seen, len(tasks)) if audit or seen or findings else None
    if audit:
        notes += audit_file_notes(audit, audited, here)
    notes += coverage_note(covered, len(tasks))
    audit_notes: dict[str, dict[str, str]] = {}
    for source in [*(run.header.get("notes") or {} for run in runs), audited.notes]:
        for code, noted in source.items():
            audit_notes.setdefault(code, {}).update({task: text for task, text in noted.items() if task in here})
    audit_notes = {code: noted for code, noted in audit_notes.items() if noted}
    collection = Collection(tuple(runs), tasks, (), covered, audit_notes)
    notes += run_notes(collection)
    notes += oracle_notes(collection)
    notes += setting_notes(runs)
    return replace(collection, notes=tuple(notes))


def _unique(runs: list[Run]) -> list[Run]:
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
            str(named.get(task, {}).get("name") or task),
            str(named.get(task, {}).get("family") or "unknown"),
            tuple(findings.get(task, ())),
            task in named,
        )
        for task in sorted(ids, key=natural_key)
    )


def _all_tasks(runs: Sequence[Run], findings: Mapping[str, Sequence[str]]) -> tuple[TaskInfo, ...]:
    """Every task that a run or its header speaks of, then one row for each that the header only counts."""
    named = {task for run in runs for task, _ in run.samples}
    tasks = _infos(named.union(*(run.asked or () for run in runs)), runs, findings)
    count = int((runs[0].header.get("tasks") or {}).get("count") or 0)
    silent = range(1, count - len(tasks) + 1)
    return tasks + tuple(TaskInfo(f"{UNANSWERED}{n})", "no answer in any run", "unknown", (), False) for n in silent)


def _shared_tasks(runs: Sequence[Run], findings: Mapping[str, Sequence[str]]) -> tuple[TaskInfo, ...]:
    return _infos(set.intersection(*({task for task, _ in run.samples} for run in runs)), runs, findings)
