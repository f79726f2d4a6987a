"""Results files to one collection: the runs of a report on one list of tasks."""

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..judge.results import read_results
from ..progress import Progress
from ..text import InputError
from .audit_file import AuditFile, read_audit
from .collection import UNANSWERED, Collection, Note, Run, TaskInfo
from .notes import audit_notes, run_notes, setting_notes


class ReportError(InputError):
    """The results cannot be reported together; the message names the files and the fix."""


def collect(paths: Sequence[Path], *, audit: Path | None = None, intersect: bool = False) -> Collection:
    """Read results files and put their runs on one list of tasks.

    A file with several prompt levels gives a run for each. Runs on different task sets are refused, or with `intersect` reduced to
    the tasks that all of them hold. ReportError, ResultsError or AuditError name the file and the fix.
    """
    notes: list[Note] = []
    files = Progress(paths, unit="file", desc="read", leave=False)
    runs = _told_apart([run for path in files for run in read_runs(Path(path), notes)])
    audited = read_audit(audit) if audit else AuditFile()
    different = _different_sets(runs)
    silent = 0
    if not different:
        ids = {task for run in runs for task, _ in run.samples}.union(*(run.asked or () for run in runs))
        silent = max(0, (runs[0].told("tasks", "count") or 0) - len(ids))
    elif intersect:
        ids = set.intersection(*({task for task, _ in run.samples} for run in runs))
        text = (
            f"The runs are on different task sets ({different}). Only the {len(ids)} tasks whose ids all of them hold are "
            "counted; whether these are the same tasks is not checked, and an unanswered task drops out."
        )
        notes.append(Note(text, loud=True))
    else:
        raise ReportError(
            f"the runs are on different task sets ({different}), so their numbers do not compare. Report them apart, or give "
            "intersect=true to use only the tasks whose ids all of them hold."
        )
    findings: dict[str, dict[str, None]] = {}  # as ordered sets
    noted: dict[str, dict[str, str]] = {}
    headers = [(run.header.get("findings") or {}, run.header.get("notes") or {}) for run in runs]
    for found, said in [*headers, (audited.findings, audited.notes)]:
        for task, texts in found.items():
            findings.setdefault(task, {}).update(dict.fromkeys(texts))
        for code, texts in said.items():
            if told := {task: text for task, text in texts.items() if task in ids}:
                noted.setdefault(code, {}).update(told)
    named = {task: sample for run in reversed(runs) for (task, _), sample in run.samples.items()}
    tasks = []
    for task in sorted(ids, key=natural_key):
        of = named.get(task, {})
        of_task = tuple(findings.get(task, ()))
        tasks.append(TaskInfo(task, of.get("name") or task, of.get("family") or "unknown", of_task))
    # Of further tasks the header says only how many there are.
    tasks += [TaskInfo(f"{UNANSWERED}{n + 1})", "no answer in any run", "unknown") for n in range(silent)]
    if not tasks:
        raise ReportError("no task is in all the runs: there is nothing to report. Check that they belong together.")
    covered, counted = None, min(run.header.get("audited") or 0 for run in runs)
    if audit or findings or counted:
        # The file's further ids may be of tasks without an id.
        of_file = len(audited.audited & ids) + min(silent, len(audited.audited - ids))
        covered = min(len(tasks), max(of_file, counted, sum(bool(task.findings) for task in tasks)))
    collection = Collection(tuple(runs), tuple(tasks), (), covered, noted)
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
    for sample in map(_writable, results.samples):
        # Another code under one number: the line written later stands.
        levels.setdefault(sample.get("level") or 1, {})[sample["task"], sample["sample"]] = sample
    if replaced := len(results.samples) - sum(map(len, levels.values())):
        text = f"{path.name}: {replaced} samples were judged with more than one code; the last of each counts."
        notes.append(Note(text, loud=True))
    tasks, answers = header.get("tasks") or {}, header.get("answers") or {}
    counts = answers.get("levels")
    for level in map(int, counts or {}):
        if tasks.get("level") in (None, level):
            levels.setdefault(level, {})
    if not levels:
        levels[int(tasks.get("level") or 1)] = {}
    # How many lines there are when all is judged; None when the header does not tell.
    planned = answers.get("chosen")
    if planned is None and tasks.get("split") is None and tasks.get("level") is None:
        planned = answers.get("count")
    asked = None if tasks.get("ids") is None else frozenset(tasks["ids"])
    name = str(header.get("method") or header.get("run") or path.stem)
    runs = []
    for level, samples in sorted(levels.items()):
        # A header without counts by level counts all of them together.
        counted = samples if counts is not None else [key for found in levels.values() for key in found]
        present = sum(asked is None or task in asked for task, _ in counted)
        of_level = planned if counts is None else counts.get(str(level), 0)
        label = f"{name} (level {level})" if len(levels) > 1 else name
        runs.append(Run(label, path, header, level, samples, of_level, present, asked))
    return runs


def _writable(record: Mapping[str, Any]) -> dict[str, Any]:
    """The record with lone surrogates replaced: JSON can hold them, no file in UTF-8 can."""
    return json.loads(json.dumps(record, ensure_ascii=False).encode("utf-8", errors="replace"))


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
    count, seen = Counter(run.label for run in runs), Counter[str]()
    for place, run in enumerate(runs):
        seen[run.label] += 1
        if count[run.label] > 1:
            runs[place] = replace(run, label=f"{run.label} #{seen[run.label]}")
    return runs


def _different_sets(runs: Sequence[Run]) -> str:
    """Empty when all runs are on one set, else what tells the sets apart."""
    sets: dict[tuple[Any, ...], list[str]] = {}
    for run in runs:
        sets.setdefault(tuple(run.told("tasks", key) for key in ("count", "split", "sha256")), []).append(run.label)
    texts = [
        f"{', '.join(labels)}: {count} tasks{f' of split {split}' if split else ''}, SHA-256 {str(digest)[:12]}"
        for (count, split, digest), labels in sets.items()
    ]
    return "; ".join(texts) if len(texts) > 1 else ""


def natural_key(text: str) -> list[tuple[int, int | str]]:
    """Sorts "task 10" behind "task 9"."""
    return [(0, int(part)) if part.isdecimal() else (1, part) for part in re.split(r"([0-9]+)", text) if part]
