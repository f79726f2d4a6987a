"""Notes on the runs: what moves their numbers, and how their settings differ."""

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from .records import INFRA_ERROR, NO_ANSWER, NOT_JUDGED, Collection, Note, Run


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
