"""A results file to runs, one a prompt level: what its header asked for, and which of that is there."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..judge.results import Results, read_results
from .collection import Note, Run


def read_runs(path: Path, notes: list[Note]) -> list[Run]:
    """The runs of a results file; what has to be said of it is added to `notes`.

    A level that the header asked for is a run also when none of its samples is judged yet. ResultsError names the file and
    the line that `cuset evaluate` did not write.
    """
    results = read_results(path)
    header = _writable(results.run)
    levels = _by_level(path, results, notes)
    expected = _expected(header)
    asked = (header.get("tasks") or {}).get("level")
    for level in expected or {}:
        if level not in levels and (asked is None or level == asked):
            levels[level] = {}
    if not levels:
        levels[int(asked or 1)] = {}
    ids = (header.get("tasks") or {}).get("ids")
    asked_tasks = None if ids is None else frozenset(map(str, ids))
    label = str(header.get("method") or header.get("run") or path.stem)
    runs = []
    for level, samples in sorted(levels.items()):
        wanted, present = _planned(header, expected, level), samples
        if expected is None:  # the header counts all levels together
            present = [key for found in levels.values() for key in found]
        there = sum(asked_tasks is None or task in asked_tasks for task, _ in present)
        name = f"{label} (level {level})" if len(levels) > 1 else label
        complete = wanted is None or there >= wanted
        runs.append(Run(name, path, header, level, samples, complete, wanted, there, asked_tasks))
    return runs


def _by_level(path: Path, results: Results, notes: list[Note]) -> dict[int, dict[tuple[str, int], Mapping[str, Any]]]:
    levels: dict[int, dict[tuple[str, int], Mapping[str, Any]]] = {}
    replaced = 0
    for sample in results.samples:
        level = levels.setdefault(sample.get("level") or 1, {})
        key = (_writable(str(sample["task"])), sample["sample"])
        replaced += key in level
        # Another code under one number: the line written later stands.
        level[key] = _writable({**sample, "task": key[0]})
    if replaced:
        text = f"{path.name}: {replaced} samples were judged with more than one code; the last of each counts."
        notes.append(Note(text, loud=True))
    return levels


def _writable(value: Any) -> Any:
    """The value with lone surrogates replaced: JSON can hold them, no file in UTF-8 can."""
    if isinstance(value, str):
        return value if value.isascii() else value.encode("utf-8", errors="replace").decode()
    if isinstance(value, dict):
        return {_writable(key): _writable(item) for key, item in value.items()}
    return [_writable(item) for item in value] if isinstance(value, list) else value


def _expected(header: Mapping[str, Any]) -> dict[int, int] | None:
    """Level -> how many lines on the header's tasks a finished run has; None when the header does not count by level."""
    levels = (header.get("answers") or {}).get("levels")
    return None if levels is None else {int(level): int(count) for level, count in levels.items()}


def _planned(header: Mapping[str, Any], expected: Mapping[int, int] | None, level: int) -> int | None:
    """How many lines there are when the level is judged; None when the header does not tell."""
    if expected is not None:
        return expected.get(level, 0)
    answers, tasks = header.get("answers") or {}, header.get("tasks") or {}
    if answers.get("chosen") is not None:
        return int(answers["chosen"])
    if answers.get("count") is None or tasks.get("split") is not None or tasks.get("level") is not None:
        return None
    return int(answers["count"])
