"""Results files to one collection: the runs of a report on the tasks they share."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..results import ResultsError, read_results
from .audit import AuditFile, read_audit_file
from .notes import run_notes, setting_notes
from .records import Collection, Note, Run, TaskInfo


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
    runs = _unique([run for path in paths for run in _read(Path(path), notes)], notes)
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
    if audited.findings and not set(audited.findings) & here:
        notes.append(Note(f"The audit {audit} speaks of none of these tasks: is it of another task set?", loud=True))
    seen = 0 if audit else min(int(run.header.get("audited") or 0) for run in runs)
    if 0 < seen < len(tasks):
        notes.append(
            Note(
                f"The audit covers {seen} of {len(tasks)} tasks: of the others it is not known whether their oracles are "
                "weak. `cuset audit-tasks` goes on where it was; judge or report again then."
            )
        )
    audit_notes: dict[str, dict[str, str]] = {}
    for source in [*(run.header.get("notes") or {} for run in runs), audited.notes]:
        for code, noted in source.items():
            audit_notes.setdefault(code, {}).update({task: text for task, text in noted.items() if task in here})
    audit_notes = {code: noted for code, noted in audit_notes.items() if noted}
    collection = Collection(tuple(runs), tasks, (), bool(audit) or bool(findings) or seen >= len(tasks), audit_notes)
    notes += run_notes(collection)
    notes += setting_notes(runs)
    return replace(collection, notes=tuple(notes))


def _read(path: Path, notes: list[Note]) -> list[Run]:
    results = read_results(path)
    header = _writable(results.run)
    by_level: dict[int, dict[tuple[str, int], Mapping[str, Any]]] = {}
    replaced = 0
    for line, sample in enumerate(results.samples, start=2):
        missing = [key for key in ("task", "sample", "verdict", "compiled", "passed") if key not in sample]
        if missing:
            raise ResultsError(
                f"{path}: sample {line - 1} has no {', '.join(missing)}: not written by `cuset evaluate`."
            )
        level = by_level.setdefault(int(sample.get("level") or 1), {})
        key = (_writable(str(sample["task"])), int(sample["sample"]))
        replaced += key in level
        level[key] = _writable(
            {**sample, "task": key[0]}
        )  # another code under one number: the line written later stands
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


def _writable(value: Any) -> Any:
    """The value with lone surrogates replaced: JSON can hold them, no file in UTF-8 can."""
    if isinstance(value, str):
        return value if value.isascii() else value.encode("utf-8", errors="replace").decode()
    if isinstance(value, dict):
        return {_writable(key): _writable(item) for key, item in value.items()}
    return [_writable(item) for item in value] if isinstance(value, list) else value


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
