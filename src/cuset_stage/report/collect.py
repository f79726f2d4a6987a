"""Results files to one collection: the runs of a report on one list of tasks."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..judge.results import read_results
from .audit_file import AuditFile, read_audit
from .collection import UNANSWERED, Collection, Note, Run, TaskInfo
from .notes import audit_notes, run_notes, setting_notes


class ReportError(ValueError):
    """The results cannot be reported together; the message names the files and the fix."""


def collect(paths: Sequence[Path], *, audit: Path | None = None, intersect: bool = False) -> Collection:
    """Read results files and put their runs on one list of tasks.

    A file with several prompt levels gives a run for each. Runs on different task sets are refused, or with `intersect` reduced to
    the tasks that all of them hold. ReportError, ResultsError or AuditError name the file and the fix.
    """
    notes: list[Note] = []
    runs = _told_apart([run for path in paths for run in read_runs(Path(path), notes)])
    different = _different_sets(runs)
    if different and not intersect:
        raise ReportError(
            f"the runs are on different task sets ({different}), so their numbers do not compare. Report them apart, or give "
            "intersect=true to use only the tasks whose ids all of them hold."
        )
    audited = read_audit(audit) if audit else AuditFile()
    findings: dict[str, list[str]] = {}
    for source in [*(run.header.get("findings") or {} for run in runs), audited.findings]:
        for task, texts in source.items():
            known = findings.setdefault(task, [])
            known += [text for text in texts if text not in known]
    if different:
        tasks = _tasks(set.intersection(*({task for task, _ in run.samples} for run in runs)), runs, findings)
        text = (
            f"The runs are on different task sets ({different}). Only the {len(tasks)} tasks whose ids all of them hold are "
            "counted; whether these are the same tasks is not checked, and an unanswered task drops out."
        )
        notes.append(Note(text, loud=True))
    else:
        named = {task for run in runs for task, _ in run.samples}.union(*(run.asked or () for run in runs))
        # Of further tasks the header says only how many there are.
        silent = range(1, (runs[0].told("tasks", "count") or 0) - len(named) + 1)
        tasks = _tasks(named, runs, findings)
        tasks += tuple(TaskInfo(f"{UNANSWERED}{n})", "no answer in any run", "unknown") for n in silent)
    if not tasks:
        raise ReportError("no task is in all the runs: there is nothing to report. Check that they belong together.")
    here = {task.id for task in tasks}
    noted: dict[str, dict[str, str]] = {}
    for source in [*(run.header.get("notes") or {} for run in runs), audited.notes]:
        for code, texts in source.items():
            if told := {task: text for task, text in texts.items() if task in here}:
                noted.setdefault(code, {}).update(told)
    covered = _covered(runs, tasks, audited) if audit or findings or _audited(runs) else None
    collection = Collection(tuple(runs), tasks, (), covered, noted)
    notes += [*audit_notes(collection, audit, audited), *run_notes(collection), *setting_notes(runs)]
    return replace(collection, notes=tuple(notes))


def read_runs(path: Path, notes: list[Note]) -> list[Run]:
    """The runs of a results file; what has to be said of it is added to `notes`.

    A level that the header asked for is a run also when none of its samples is judged yet. ResultsError names the file and
    the line that `cuset evaluate` did not write.
    """
    results = read_results(path)
    header = _writable(results.run)
    levels: dict[int, dict[tuple[str, int], Mapping[str, Any]]] = {}
    replaced = 0
    for sample in map(_writable, results.samples):
        level = levels.setdefault(sample.get("level") or 1, {})
        key = (sample["task"], sample["sample"])
        replaced += key in level
        level[key] = sample  # another code under one number: the line written later stands
    if replaced:
        text = f"{path.name}: {replaced} samples were judged with more than one code; the last of each counts."
        notes.append(Note(text, loud=True))
    tasks, counts = header.get("tasks") or {}, (header.get("answers") or {}).get("levels")
    for level in map(int, counts or {}):
        if tasks.get("level") in (None, level):
            levels.setdefault(level, {})
    if not levels:
        levels[int(tasks.get("level") or 1)] = {}
    asked = None if tasks.get("ids") is None else frozenset(tasks["ids"])
    name = str(header.get("method") or header.get("run") or path.stem)
    runs = []
    for level, samples in sorted(levels.items()):
        # A header without counts by level counts all of them together.
        counted = samples if counts is not None else [key for found in levels.values() for key in found]
        present = sum(asked is None or task in asked for task, _ in counted)
        label = f"{name} (level {level})" if len(levels) > 1 else name
        runs.append(Run(label, path, header, level, samples, _planned(header, level), present, asked))
    return runs


def _planned(header: Mapping[str, Any], level: int) -> int | None:
    """How many lines there are when the level is judged; None when the header does not tell."""
    answers, tasks = header.get("answers") or {}, header.get("tasks") or {}
    if answers.get("levels") is not None:
        return answers["levels"].get(str(level), 0)
    if answers.get("chosen") is not None:
        return answers["chosen"]
    return answers.get("count") if tasks.get("split") is None and tasks.get("level") is None else None


def _writable(record: Mapping[str, Any]) -> dict[str, Any]:
    """The record with lone surrogates replaced: JSON can hold them, no file in UTF-8 can."""
    return json.loads(json.dumps(record, ensure_ascii=False).encode("utf-8", errors="replace"))


def _audited(runs: Sequence[Run]) -> int:
    return min(run.header.get("audited") or 0 for run in runs)


def _covered(runs: Sequence[Run], tasks: Sequence[TaskInfo], audit: AuditFile) -> int:
    """How many of the tasks were audited, by the file or by what headers count."""
    here = {task.id for task in tasks}
    silent = sum(task.id.startswith(UNANSWERED) for task in tasks)
    # Of tasks without an id only the number is known; the file's further ids may be theirs.
    of_file = len(audit.audited & here) + min(silent, len(audit.audited - here))
    return min(len(tasks), max(of_file, _audited(runs), sum(bool(task.findings) for task in tasks)))


def _told_apart(runs: list[Run]) -> list[Run]:
    """The same runs with labels that tell them apart: by model, by the run's name, by folder, at last by number."""
    paths = Counter((run.path.resolve(), run.level) for run in runs)
    if twice := sorted({path.name for (path, _), number in paths.items() if number > 1}):
        raise ReportError(f"{', '.join(twice)}: given more than once; name each results file once.")
    names = (lambda run: run.model, lambda run: str(run.header.get("run") or ""), lambda run: run.path.parent.name)
    for name in names:
        count = Counter(run.label for run in runs)
        clash = [run for run in runs if count[run.label] > 1 and name(run)]
        if len({name(run) for run in clash}) > 1:
            runs = [replace(run, label=f"{run.label}, {name(run)}") if run in clash else run for run in runs]
    count, seen, numbered = Counter(run.label for run in runs), Counter(), []
    for run in runs:
        seen[run.label] += 1
        numbered.append(replace(run, label=f"{run.label} #{seen[run.label]}") if count[run.label] > 1 else run)
    return numbered


def _different_sets(runs: Sequence[Run]) -> str:
    """Empty when all runs are on one set, else what tells the sets apart."""
    sets: dict[tuple[Any, ...], list[str]] = {}
    for run in runs:
        sets.setdefault(tuple(run.told("tasks", key) for key in ("count", "split", "sha256")), []).append(run.label)
    if len(sets) < 2:
        return ""
    return "; ".join(
        f"{', '.join(labels)}: {count} tasks{f' of split {split}' if split else ''}, SHA-256 {str(digest)[:12]}"
        for (count, split, digest), labels in sets.items()
    )


def _tasks(ids: Iterable[str], runs: Sequence[Run], findings: Mapping[str, Sequence[str]]) -> tuple[TaskInfo, ...]:
    named = {task: sample for run in reversed(runs) for (task, _), sample in run.samples.items()}

    def info(task: str) -> TaskInfo:
        sample = named.get(task, {})
        return TaskInfo(
            task, sample.get("name") or task, sample.get("family") or "unknown", tuple(findings.get(task, ()))
        )

    return tuple(info(task) for task in sorted(ids, key=natural_key))


def natural_key(text: str) -> list[tuple[int, int | str]]:
    """Sorts "task 10" behind "task 9"."""
    return [(0, int(part)) if part.isdecimal() else (1, part) for part in re.split(r"([0-9]+)", text) if part]
