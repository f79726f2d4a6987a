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
from ..text import nearest
from .collection import Collection, Note, ReportError, Run, TaskInfo
from .notes import notes_on


def collect(paths: Sequence[Path], *, only: Sequence[str] = (), limit: int | None = None) -> Collection:
    """Read results files and put their runs on one list of tasks.

    A file with several prompt levels gives a run for each. ReportError or ResultsError name the file and the fix, for runs on different task
    sets too: their numbers do not compare. only, limit: take the tasks with these ids alone, the first so many of them.
    """
    notes: list[Note] = []
    files = Progress(paths, unit="file", desc="read", leave=False)
    runs = _told_apart([run for path in files for run in read_runs(Path(path), notes)])
    if only or limit is not None:
        runs = _of_tasks(runs, only, limit)
    _check_one_set(runs)
    ids = frozenset().union(*(run.asked | run.judged for run in runs))
    findings: defaultdict[str, list[str]] = defaultdict(list)
    for run in runs:
        for task, texts in (run.header.get("findings") or {}).items():
            findings[task] += texts
    named = {task: sample for run in reversed(runs) for (task, _), sample in run.samples.items()}
    tasks = []
    for task in sorted(ids, key=natural_key):
        of = named.get(task, {})
        name, family = of.get("name") or task, of.get("family") or "unknown"
        tasks.append(TaskInfo(task, name, family, tuple(dict.fromkeys(findings[task]))))
    audited = max(min(run.header.get("audited") or 0 for run in runs), sum(bool(task.findings) for task in tasks))
    runs = [replace(run, tasks=tuple(tasks)) for run in runs]
    collection = Collection(tuple(runs), tuple(tasks), (), min(len(ids), audited))
    return replace(collection, notes=(*notes, *notes_on(collection)))


def read_runs(path: Path, notes: list[Note]) -> list[Run]:
    """The runs of a results file; what has to be said of it is added to `notes`.

    A level that the header asked for is a run also when none of its samples is judged yet. ResultsError names the file and
    the line that `cuset evaluate` did not write.
    """
    results = read_results(path)
    header = _writable(results.run)
    tasks = header.get("tasks") or {}
    planned = (header.get("answers") or {}).get("levels") or {}
    levels: dict[int, Any] = {level: {} for level in map(int, planned) if tasks.get("level") in (None, level)}
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
    """The same runs with labels that tell them apart: by the first of model, run's name, folder and number that does."""
    paths = Counter((run.path.resolve(), run.level) for run in runs)
    if twice := sorted({path.name for (path, _), number in paths.items() if number > 1}):
        raise ReportError(f"{', '.join(twice)}: given more than once; name each results file once.")
    count = Counter(run.label for run in runs)
    for names in (
        [run.model for run in runs],
        [run.header.get("run") for run in runs],
        [run.path.parent.name for run in runs],
        [f"#{number}" for number in range(1, len(runs) + 1)],
    ):
        labelled = zip(runs, names, strict=True)
        labels = [f"{run.label}, {name}" if count[run.label] > 1 else run.label for run, name in labelled]
        if len(set(labels)) == len(runs):
            break
    return [replace(run, label=label) for run, label in zip(runs, labels, strict=True)]


def _of_tasks(runs: Sequence[Run], only: Sequence[str], limit: int | None) -> list[Run]:
    """The runs as if no more than these tasks had been asked for."""
    there = list(dict.fromkeys(task for run in runs for task in run.told("tasks", "ids") or sorted(run.asked)))
    for task in set(only).difference(there):
        raise ReportError(f"only={task}: the results have no such task; {nearest(task, there)}.")
    wanted = frozenset([task for task in there if not only or task in only][:limit])
    part = {"count": len(wanted), "split": None, "ids": sorted(wanted)}
    return [
        replace(
            run,
            header={**run.header, "tasks": {**(run.told("tasks") or {}), **part}},
            samples=(samples := {key: line for key, line in run.samples.items() if key[0] in wanted}),
            asked=run.asked & wanted,
            planned=run.planned and len(samples) + run.missing,
        )
        for run in runs
    ]


def _check_one_set(runs: Sequence[Run]) -> None:
    sets: defaultdict[tuple[Any, ...], list[str]] = defaultdict(list)
    for run in runs:
        sets[tuple(run.told("tasks", key) for key in ("count", "split", "sha256"))].append(run.label)
    if len(sets) > 1:
        texts = [
            f"{', '.join(labels)}: {count} tasks{f' of split {split}' if split else ''}, SHA-256 {str(digest)[:12]}"
            for (count, split, digest), labels in sets.items()
        ]
        raise ReportError(
            f"the runs are on different task sets ({'; '.join(texts)}), so their numbers do not compare. Report them "
            "apart, or with only= or limit= for tasks that all of them have."
        )


def natural_key(text: str) -> list[tuple[int, int | str]]:
    """Sorts "task 10" behind "task 9"."""
    return [(0, int(part)) if part.isdecimal() else (1, part) for part in re.split(r"([0-9]+)", text) if part]
