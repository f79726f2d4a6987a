"""Results files to one collection: the runs of a report on one list of tasks."""

import json
import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..judge.results import read_results
from ..progress import Progress
from .collection import Collection, Note, ReportError, Run, TaskInfo
from .inputs import AuditFile, read_audit
from .notes import notes_on


def collect(paths: Sequence[Path], *, audit: Path | None = None, intersect: bool = False) -> Collection:
    """Read results files and put their runs on one list of tasks.

    A file with several prompt levels gives a run for each. Runs on different task sets are refused, or with `intersect` reduced to
    the tasks that all of them hold. ReportError, ResultsError or AuditError name the file and the fix.
    """
    notes: list[Note] = []
    files = Progress(paths, unit="file", desc="read", leave=False)
    runs = _told_apart([run for path in files for run in read_runs(Path(path), notes)])
    file = read_audit(audit) if audit else AuditFile()
    ids = frozenset().union(*(run.asked | run.judged for run in runs))
    if different := _different_sets(runs):
        if not intersect:
            raise ReportError(
                f"the runs are on different task sets ({different}), so their numbers do not compare. Report them apart, or give "
                "intersect=true to use only the tasks whose ids all of them hold."
            )
        ids = frozenset.intersection(*(run.judged for run in runs))
        text = (
            f"The runs are on different task sets ({different}). Only the {len(ids)} tasks whose ids all of them hold are "
            "counted; whether these are the same tasks is not checked, and an unanswered task drops out."
        )
        notes.append(Note(text, loud=True))
    if not ids:
        raise ReportError("no task is in all the runs: there is nothing to report. Check that they belong together.")
    findings: defaultdict[str, list[str]] = defaultdict(list)
    noted: defaultdict[str, dict[str, str]] = defaultdict(dict)
    headers = [(run.header.get("findings") or {}, run.header.get("notes") or {}) for run in runs]
    for weaknesses, notes_by_code in [*headers, (file.findings, file.notes)]:
        for task, texts in weaknesses.items():
            findings[task] += texts
        for code, messages in notes_by_code.items():
            noted[code] |= {task: text for task, text in messages.items() if task in ids}
    named = {task: sample for run in reversed(runs) for (task, _), sample in run.samples.items()}
    tasks = []
    for task in sorted(ids, key=natural_key):
        of = named.get(task, {})
        name, family = of.get("name") or task, of.get("family") or "unknown"
        tasks.append(TaskInfo(task, name, family, tuple(dict.fromkeys(findings[task]))))
    counted = min(run.header.get("audited") or 0 for run in runs)
    covered = None
    if audit or counted or any(task.findings for task in tasks):
        covered = min(len(ids), max(counted, len(file.audited & ids), sum(bool(task.findings) for task in tasks)))
    audit_notes = {code: messages for code, messages in noted.items() if messages}
    collection = Collection(tuple(runs), tuple(tasks), (), covered, audit_notes)
    return replace(collection, notes=(*notes, *notes_on(collection, audit, file)))


def read_runs(path: Path, notes: list[Note]) -> list[Run]:
    """The runs of a results file; what has to be said of it is added to `notes`.

    A level that the header asked for is a run also when none of its samples is judged yet. ResultsError names the file and
    the line that `cuset evaluate` did not write.
    """
    results = read_results(path)
    header = _writable(results.run)
    tasks = header.get("tasks") or {}
    planned = (header.get("answers") or {}).get("levels") or {}
    levels: dict[int, dict[tuple[str, int], Mapping[str, Any]]] = {
        level: {} for level in map(int, planned) if tasks.get("level") in (None, level)
    }
    for sample in map(_writable, results.samples):
        # Another code under one number: the line written later stands.
        levels.setdefault(sample.get("level") or 1, {})[sample["task"], sample["sample"]] = sample
    if replaced := len(results.samples) - sum(map(len, levels.values())):
        text = f"{path.name}: {replaced} samples were judged with more than one code; the last of each counts."
        notes.append(Note(text, loud=True))
    levels = levels or {tasks.get("level") or 1: {}}
    asked = frozenset(tasks.get("ids") or (task for samples in levels.values() for task, _ in samples))
    name = str(header.get("method") or header.get("run") or path.stem)
    return [
        Run(
            f"{name} (level {level})" if len(levels) > 1 else name,
            *(path, header, level, samples, asked),
            planned=planned.get(str(level)),
        )
        for level, samples in sorted(levels.items())
    ]


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
