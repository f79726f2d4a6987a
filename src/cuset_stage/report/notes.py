"""Notes on the runs: what moves their numbers, and how their settings differ."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from .audit import AuditFile
from .collection import INFRA_ERROR, NO_ANSWER, Collection, Note, Run


ORACLES = 8  # tasks a note names with what their oracles said; more are counted
ORACLE_TEXT = 300  # characters of what an oracle said


def run_notes(collection: Collection) -> Iterable[Note]:
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
                "The judge itself failed (infra_error): {}. These samples are charged to nobody: one that had compiled counts as "
                "compiled, and a task is left out of every other number that needs one of them. Judge them again before you publish.",
                run,
                detail,
            )
        if not run.complete:
            tell(
                "Not finished: {}. The numbers are of the judged samples and will change.",
                run,
                f"{(run.planned or 0) - run.present} of {run.planned} samples not judged",
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
        judged = {task for task, _ in run.samples}
        extra = len(judged) - count if run.asked is None else len(judged - run.asked)
        if extra > 0:
            tell(
                "More tasks in the results than the run was asked for, left from another --split or --limit: {}. They are counted; judge "
                "into a file of its own to keep them out.",
                run,
                f"{extra} beyond {count}",
            )
    return [Note(text.format("; ".join(details)), loud=True) for text, details in told.items()]


def oracle_notes(collection: Collection) -> Iterable[Note]:
    """The tasks on which the judge failed and with what, those first of which no program could be judged: their oracles fail."""
    said: dict[str, str] = {}
    judged: set[str] = set()
    for run in collection.runs:
        for sample in collection.judged(run):
            if sample["verdict"] == INFRA_ERROR:
                said[sample["task"]] = str(sample.get("message") or "no message")
            elif sample["compiled"]:
                judged.add(sample["task"])
    if said:
        ordered = {task: said[task] for task in sorted(said, key=lambda task: task in judged)}
        yield Note(
            f"What the judge failed with, by task: {_listed(ordered)} An oracle that fails is mended in the task set, a machine "
            "by judging again.",
            loud=True,
        )


def audit_file_notes(path: Path, audit: AuditFile, here: set[str]) -> Iterable[Note]:
    """Whether the file of --audit is of these tasks, and which of their audits did not end."""
    if audit.tasks and not audit.tasks & here:
        yield Note(f"The audit {path} speaks of none of these tasks: is it of another task set?", loud=True)
    if unfinished := {task: text for task, text in audit.unfinished.items() if task in here}:
        count = f"{len(unfinished)} {'task' if len(unfinished) == 1 else 'tasks'}"
        yield Note(
            f"The audit could not be finished on {count}, so it is not known whether their oracles are weak; they are not "
            f"counted as flagged. {_listed(unfinished)}",
            loud=True,
        )


def coverage_note(covered: int | None, tasks: int) -> Iterable[Note]:
    """What an audit of a part of the tasks leaves open."""
    if covered is not None and covered < tasks:
        yield Note(
            f"The audit covers {covered} of {tasks} tasks: of the others it is not known whether their oracles are "
            "weak. `cuset audit-tasks` goes on where it was; judge or report again then."
        )


def _listed(said: Mapping[str, str]) -> str:
    """ "a: message; b: message; and 3 more": each message in one line, cut where it is long."""
    parts = []
    for task, text in list(said.items())[:ORACLES]:
        text = " ".join(text.split())
        parts.append(f"{task}: {text if len(text) <= ORACLE_TEXT else text[: ORACLE_TEXT - 1] + '…'}")
    if len(said) > ORACLES:
        parts.append(f"and {len(said) - ORACLES} more")
    return "; ".join(parts).rstrip(".") + "."


def setting_notes(runs: Sequence[Run]) -> Iterable[Note]:
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
        "torch": lambda run: run.header.get("torch"),
        "extraction rule": lambda run: run.header.get("extract"),
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
