"""Notes on the runs: what moves their numbers, and how their settings differ."""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from ..text import one_line
from .audit_file import AuditFile
from .collection import INFRA_ERROR, NO_ANSWER, Collection, Note, Run


NAMED = 8  # tasks a note names with what was said of them; more are counted


def counted(count: int, noun: str) -> str:
    """ "1 run", "2 runs"."""
    return f"{count} {noun}{'' if count == 1 else 's'}"


ISOLATION = (
    "Judged without isolation (isolation: none): {}. The programs could read and change what the judge could, expected "
    "outputs and verdicts included: believe these numbers only if you trust every program."
)
FAILED_JUDGE = (
    "The judge itself failed (infra_error): {}. These samples are charged to nobody: one that had compiled counts as "
    "compiled, and a task is left out of every other number that needs one of them. Judge them again before you publish."
)
UNFINISHED = "Not finished: {}. The numbers are of the judged samples and will change."
NO_ANSWERS = (
    "Samples without an answer: {}. They count as failures, so that leaving out hard tasks cannot raise a number."
)
SUSPICIONS = "Samples with a suspicion of the judge: {}. Look at them before you quote a number."
FURTHER_TASKS = (
    "More tasks in the results than the run was asked for, left from another split or limit: {}. They are counted; judge "
    "into a file of its own to keep them out."
)


def run_notes(collection: Collection) -> Iterator[Note]:
    """What moves the numbers of single runs; one loud note a kind, naming the runs."""
    told: dict[str, list[str]] = {}
    for run in collection.runs:
        cells, lines = collection.verdicts(run), collection.lines(run)
        failed = {task for (task, _), sample in run.samples.items() if sample["verdict"] == INFRA_ERROR}
        judged, count = {task for task, _ in run.samples}, run.told("tasks", "count") or 0
        extra = len(judged) - count if run.asked is None else len(judged - run.asked)
        flagged = int(lines["flags"].astype(bool).sum())
        total, missing = cells.total(), (run.planned or 0) - run.present
        infra = f"{cells[INFRA_ERROR]} of {total} samples, on {counted(len(failed), 'task')}"
        for text, holds, detail in (
            (ISOLATION, run.header.get("isolation") == "none", ""),
            (FAILED_JUDGE, cells[INFRA_ERROR], infra),
            (UNFINISHED, not run.complete, f"{missing} of {run.planned} samples not judged"),
            (NO_ANSWERS, cells[NO_ANSWER], f"{cells[NO_ANSWER]} of {total}"),
            (SUSPICIONS, flagged, str(flagged)),
            (FURTHER_TASKS, extra > 0, f"{extra} beyond {count}"),
        ):
            if holds:
                told.setdefault(text, []).append(f"{run.label} {detail}".strip())
    for text, details in told.items():
        yield Note(text.format("; ".join(details)), loud=True)
    # The tasks on which the judge failed and with what, those first of which no program could be judged: their oracles fail.
    lines = pd.concat([collection.lines(run) for run in collection.runs])
    failed = lines[lines["verdict"] == INFRA_ERROR]
    said = dict(zip(failed["task"], failed["message"].map(lambda text: text or "no message"), strict=True))
    if said:
        judged = set(lines.loc[(lines["verdict"] != INFRA_ERROR) & lines["compiled"].eq(True), "task"])
        ordered = {task: said[task] for task in sorted(said, key=lambda task: task in judged)}
        yield Note(
            f"What the judge failed with, by task: {_listed(ordered)} Correct an oracle that fails in the task set; after a "
            "failure of the machine, judge again.",
            loud=True,
        )


def audit_notes(collection: Collection, path: Path | None, audit: AuditFile) -> Iterator[Note]:
    """Whether the audit file is of these tasks, which of its audits did not end, and which tasks have none."""
    here = {task.id for task in collection.tasks}
    spoken = audit.audited | audit.unfinished.keys()
    if spoken and not spoken & here:
        yield Note(f"The audit {path} speaks of none of these tasks: is it of another task set?", loud=True)
    if unfinished := {task: text for task, text in audit.unfinished.items() if task in here}:
        yield Note(
            f"The audit could not be finished on {counted(len(unfinished), 'task')}, so it is not known whether their oracles are "
            f"weak; they are not counted as flagged. {_listed(unfinished)}",
            loud=True,
        )
    if collection.audited is not None and collection.audited < len(collection.tasks):
        yield Note(
            f"The audit covers {collection.audited} of {len(collection.tasks)} tasks: of the others it is not known whether their "
            "oracles are weak. Run `cuset audit-tasks` again to resume it; judge or report again then."
        )


def _listed(said: Mapping[str, str]) -> str:
    """ "a: message; b: message; and 3 more"."""
    parts = [f"{task}: {one_line(text, 300)}" for task, text in list(said.items())[:NAMED]]
    parts += [f"and {len(said) - NAMED} more"] * (len(said) > NAMED)
    return "; ".join(parts).rstrip(".") + "."


NOTED = (
    *("GPU", "CUDA toolkit", "architecture", "compiler flags", "isolation", "torch", "extraction rule"),
    *("prompt level", "samples a task", "cuset-stage", "compile only"),
)
"""Settings of the judge, not of the method; the limits as well."""


def setting_notes(runs: Sequence[Run]) -> Iterator[Note]:
    """What differs between runs and may move the numbers although the method is the same."""
    for name, texts in run_settings(runs).items():
        if len(set(texts)) > 1 and (name in NOTED or name.startswith("limit ")):
            labels: dict[str, list[str]] = {}
            for run, text in zip(runs, texts, strict=True):
                labels.setdefault(text, []).append(run.label)
            parts = "; ".join(f"{', '.join(of)}: {text or 'not said'}" for text, of in labels.items())
            yield Note(f"The runs differ in {name} ({parts}).")


def run_settings(runs: Sequence[Run]) -> dict[str, list[str]]:
    """Name -> its value in each run, "" where the header does not say."""
    generation = ("model", "adapter", "temperature", "top_p", "seed", "max_tokens")
    others = sorted({key for run in runs for key in run.told("generation") or {}} - {*generation, "level"})
    limits = sorted({key for run in runs for key in run.told("limits") or {}})
    settings: dict[str, Callable[[Run], Any] | tuple[str, ...]] = {
        **{key.replace("_", " "): ("generation", key) for key in (*generation, *others)},
        "samples a task": lambda run: run.width,
        "prompt level": lambda run: run.level,
        "task set": ("tasks", "path"),
        "task set, format": ("tasks", "format"),
        "task set, SHA-256": ("tasks", "sha256"),
        "answers, SHA-256": ("answers", "sha256"),
        "extraction rule": ("extract",),
        "compile only": lambda run: "yes" if run.compile_only else None,
        "GPU": _gpus,
        "CUDA toolkit": ("toolkit",),
        "torch": ("torch",),
        "architecture": ("arch",),
        "compiler flags": lambda run: " ".join(run.header.get("flags") or []),
        "isolation": ("isolation",),
        **{f"limit {key}": ("limits", key) for key in limits},
        "cuset-stage": ("cuset_stage",),
        "Python": ("python",),
        "judged": ("created",),
    }
    return {
        name: [_text(run.told(*place) if isinstance(place, tuple) else place(run)) for run in runs]
        for name, place in settings.items()
    }


def _gpus(run: Run) -> str:
    texts = Counter(
        f"{gpu.get('name')} (compute capability {gpu.get('compute_capability')}, driver {gpu.get('driver')})"
        for gpu in run.header.get("gpus") or []
    )
    return "; ".join(f"{count} × {text}" if count > 1 else text for text, count in texts.items())


def _text(value: Any) -> str:
    if value is None or value in ("", [], {}):
        return ""
    if isinstance(value, dict | list):
        return json.dumps(value, sort_keys=True)
    return f"{value:g}" if isinstance(value, float) else str(value)
