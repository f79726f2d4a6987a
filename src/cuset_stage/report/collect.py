"""Read results files into one collection: the runs of a report, on one common list of tasks."""

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..judge.results import read_results
from ..progress import Progress
from ..text import nearest
from .collection import Collection, Note, ReportError, Run, TaskInfo
from .notes import counted, notes_on


def collect(paths: Sequence[Path], *, only: Sequence[str] = (), limit: int | None = None) -> Collection:
    """Read results files and put their runs on one list of tasks.

    A file with several prompt levels gives one run per level.

    Args:
        paths: results files of `cuset evaluate`.
        only: ids of the tasks to keep. Empty means all.
        limit: keep only so many of these tasks, from the first one on. None means all.

    Raises:
        ReportError, ResultsError: the files cannot be read or reported together. The message names the file and the
            fix. Runs on different task sets are an error too, because their numbers do not compare.
    """
    notes: list[Note] = []
    files = Progress(paths, unit="file", desc="read", leave=False)
    runs = _told_apart([run for path in files for run in read_runs(Path(path), notes)])
    if only or limit is not None:
        runs = list(_of_tasks(runs, only, limit))
    _check_one_set(runs)
    ids = frozenset().union(*(run.asked | run.judged for run in runs))
    findings: defaultdict[str, list[str]] = defaultdict(list)
    for run in runs:
        for task, texts in (run.header.get("findings") or {}).items():
            findings[task] += texts
    sample_of_task = {task: sample for run in reversed(runs) for (task, _), sample in run.samples.items()}
    families = {task: family for run in runs for task, family in (run.told("tasks", "families") or {}).items()}
    tasks = []
    for task in sorted(ids, key=natural_key):
        line = sample_of_task.get(task, {})
        name, family = line.get("name") or task, line.get("family") or families.get(task) or "unknown"
        tasks.append(TaskInfo(task, name, family, tuple(dict.fromkeys(findings[task]))))
    if 0 < (unknown := sum(task.family == "unknown" for task in tasks)) < len(tasks):
        text = f"The family of {counted(unknown, 'task')} without an answer is not known (results of an older version), so intervals take them as one family. Run `cuset evaluate` again; it judges nothing twice."
        notes.append(Note(text, loud=True))
    audited = max(min(run.header.get("audited") or 0 for run in runs), sum(bool(task.findings) for task in tasks))
    runs = [replace(run, tasks=tuple(tasks)) for run in runs]
    collection = Collection(tuple(runs), tuple(tasks), (), min(len(ids), audited))
    return replace(collection, notes=(*notes, *notes_on(collection)))


def read_runs(path: Path, notes: list[Note]) -> Iterator[Run]:
    """Yield the runs of a results file, one per prompt level.

    A level that the header asks for is a run even if none of its samples is judged yet.

    Args:
        path: a results file.
        notes: list to which notes on the file are appended.

    Raises:
        ResultsError: a line was not written by `cuset evaluate`. The message names the file and the line.
    """
    results = read_results(path)
    header = _writable(results.run)
    tasks = header.get("tasks") or {}
    planned = (header.get("answers") or {}).get("levels") or {}
    levels: dict[int, Any] = {level: {} for level in map(int, planned) if tasks.get("level") in (None, level)}
    for sample in map(_writable, results.samples):
        # If a sample number was judged with several codes, the line written last counts.
        levels.setdefault(sample.get("level") or 1, {})[sample["task"], sample["sample"]] = sample
    if replaced := len(results.samples) - sum(map(len, levels.values())):
        text = f"{path.name}: {replaced} samples were judged with more than one code; the last of each counts."
        notes.append(Note(text, loud=True))
    levels = levels or {tasks.get("level") or 1: {}}
    asked = frozenset(tasks.get("ids") or (task for samples in levels.values() for task, _ in samples))
    name = str(header.get("method") or header.get("run") or path.stem)
    for level, samples in sorted(levels.items()):
        label = f"{name} (level {level})" if len(levels) > 1 else name
        yield Run(label, path, header, level, samples, asked, planned.get(str(level)))


def _writable(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return the record with lone surrogates replaced. JSON can hold them, but a UTF-8 file cannot."""
    return json.loads(json.dumps(record, ensure_ascii=False).encode("utf-8", errors="replace"))


def _told_apart(runs: list[Run]) -> list[Run]:
    """Return the runs with unique labels.

    Equal labels are extended by the model, the run's name, the folder or a number: the first of these that makes all
    labels unique.

    Raises:
        ReportError: a results file was given more than once.
    """
    paths = Counter((run.path.resolve(), run.level) for run in runs)
    if repeated := sorted({path.name for (path, _), number in paths.items() if number > 1}):
        raise ReportError(f"{', '.join(repeated)}: given more than once; name each results file once.")
    label_counts = Counter(run.label for run in runs)
    for names in (
        [run.model for run in runs],
        [run.header.get("run") for run in runs],
        [run.path.parent.name for run in runs],
        [f"#{number}" for number in range(1, len(runs) + 1)],
    ):
        labelled = zip(runs, names, strict=True)
        labels = [f"{run.label}, {name}" if label_counts[run.label] > 1 else run.label for run, name in labelled]
        if len(set(labels)) == len(runs):
            break
    return [replace(run, label=label) for run, label in zip(runs, labels, strict=True)]


def _of_tasks(runs: Sequence[Run], only: Sequence[str], limit: int | None) -> Iterator[Run]:
    """Yield the runs as if only these tasks had been asked for.

    Raises:
        ReportError: `only` names a task that the results do not have.
    """
    known_tasks = list(dict.fromkeys(task for run in runs for task in run.told("tasks", "ids") or sorted(run.asked)))
    for task in set(only).difference(known_tasks):
        raise ReportError(f"only={task}: the results have no such task; {nearest(task, known_tasks)}.")
    wanted = frozenset([task for task in known_tasks if not only or task in only][:limit])
    task_keys = {"count": len(wanted), "ids": sorted(wanted)}
    for run in runs:
        header = {**run.header, "tasks": {**(run.told("tasks") or {}), **task_keys}}
        samples = {key: line for key, line in run.samples.items() if key[0] in wanted}
        planned = run.planned and sum(task in run.asked for task, _ in samples) + run.missing
        yield replace(run, header=header, samples=samples, asked=run.asked & wanted, planned=planned)


def _check_one_set(runs: Sequence[Run]) -> None:
    """Raise ReportError if the runs are on different task sets."""
    labels_by_set: defaultdict[tuple[Any, ...], list[str]] = defaultdict(list)
    for run in runs:
        ids = frozenset(run.told("tasks", "ids") or ())  # whichever of split, only and limit chose them
        labels_by_set[run.told("tasks", "count"), ids, run.told("tasks", "sha256")].append(run.label)
    if len(labels_by_set) > 1:
        common = frozenset.intersection(*(ids for _, ids, _ in labels_by_set))

        def example(ids: frozenset[str]) -> str:
            return f", {min(ids - common)} among them" if ids - common else ""

        texts = [
            f"{', '.join(labels)}: {count} tasks{example(ids)}, SHA-256 {str(digest)[:12]}"
            for (count, ids, digest), labels in labels_by_set.items()
        ]
        fix = "with only= or limit= for tasks that all of them have."
        if len({digest for _, _, digest in labels_by_set}) > 1:  # then no choice of tasks makes them one
            fix = "give `cuset evaluate` one task set for all: it judges again only what differs in it."
        raise ReportError(
            f"the runs are on different task sets ({'; '.join(texts)}), so their numbers do not compare. Report them apart, or {fix}"
        )


def natural_key(text: str) -> list[tuple[int, int | str]]:
    """Return a sort key that puts "task 10" after "task 9"."""
    return [(0, int(part)) if part.isdecimal() else (1, part) for part in re.split(r"([0-9]+)", text) if part]
