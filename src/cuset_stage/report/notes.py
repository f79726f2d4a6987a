"""Notes on the runs of a report.

They name what can change the numbers or their meaning, and the settings in which the runs differ.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

import pandas as pd

from ..text import one_line
from .collection import INFRA_ERROR, NO_ANSWER, Collection, Note, Run


NAMED = 8  # maximum number of tasks that a note names with their message; the rest is counted
DECIDING = {
    *("flags", "extract", "thorough", "require_gpu"),
    *("generation.max_tokens", "generation.temperature", "generation.top_p"),
}
"""Settings of the judge and of sampling that decide, as the limits do, which answers pass."""
JUDGE = DECIDING | {
    *("gpus", "toolkit", "arch", "isolation", "torch", "cuset_stage", "compile_only", "level", "samples a task"),
}
"""Settings of the judge and of sampling. If runs differ in one of them or in a limit, the report notes it, and loudly
where it decides. A method's settings are not among them."""
NO_SETTINGS = {
    *("type", "format", "run", "method", "findings", "notes", "audited"),
    *("tasks.ids", "tasks.count", "tasks.set_size", "answers.levels"),
}
"""Keys of a results file's header that are no settings, and those that a column of the tables shows already."""


def counted(count: int, noun: str) -> str:
    """Return the count with its noun, such as "1 run" or "2 runs"."""
    return f"{count} {noun}{'' if count == 1 else 's'}"


def notes_on(collection: Collection) -> Iterator[Note]:
    """Yield the notes on a collection.

    Each kind of problem gives one loud note, which names all runs that have it. Notes on inputs and settings follow.
    """
    details_of_note: defaultdict[str, list[str]] = defaultdict(list)
    for run in collection.runs:
        for text, detail in _of_run(run):
            details_of_note[text].append(f"{run.label} {detail}".strip())
    for text, details in details_of_note.items():
        yield Note(text.format("; ".join(details)), loud=True)
    # Name the tasks on which the judge failed, with its message. Tasks on which it judged no compiled program at all
    # come first, because there it is the oracle that fails.
    lines = pd.concat([run.lines for run in collection.runs])
    failed = lines[lines["verdict"] == INFRA_ERROR]
    if len(failed):
        judged = set(lines.loc[(lines["verdict"] != INFRA_ERROR) & lines["compiled"].eq(True), "task"])
        messages = dict(zip(failed["task"], failed["message"], strict=True))
        ordered = {task: messages[task] or "no message" for task in sorted(messages, key=lambda task: task in judged)}
        named = [f"{task}: {one_line(text, 300)}" for task, text in list(ordered.items())[:NAMED]]
        more = [f"and {len(ordered) - NAMED} more"] * (len(ordered) > NAMED)
        listed = "; ".join([*named, *more]).rstrip(".")
        yield Note(
            f"What the judge failed with, by task: {listed}. Correct an oracle that fails in the task set; after a "
            "failure of the machine, judge again.",
            loud=True,
        )
    # A seed of None in the header means that no inputs were drawn. Files of earlier versions do not have this key, so
    # nothing is known of them.
    seedless = [run for run in collection.runs if "seed" in run.header and run.header["seed"] is None]
    if fixed := [run.label for run in seedless if not run.compile_only]:
        yield Note(
            f"Judged on inputs that come with the task set, the same in every evaluation: {', '.join(fixed)}. An answer that holds the "
            "outputs passes."
        )
    texts = run_settings(collection.runs)
    prompts = defaultdict(set)
    for run in collection.runs:
        for (task, _), line in run.samples.items():
            if digest := line.get("prompt_sha256"):  # not in files of earlier versions
                prompts[run.level, task].add(str(digest))
    several = [task for (_, task), digests in prompts.items() if len(digests) > 1]
    consequence = "A difference between them can be the prompts' and not the methods': sample again with the same"
    if len(set(texts.get("generation.prompts", ()))) > 1:
        wordings = zip(collection.runs, texts["generation.prompts"], strict=True)
        named = "; ".join(f"{run.label}: {text or 'not said'}" for run, text in wordings)
        yield Note(f"The runs answer different prompts: {named}. {consequence} prompts=.", loud=True)
    elif several:
        tasks = f"{counted(len(several), 'task')}, {several[0]} among them,"
        yield Note(f"The answers to {tasks} are to different prompts. {consequence} system= and task set.", loud=True)
    settings = {name for name, values in texts.items() if len(set(values)) > 1}
    if differ := sorted(name for name in settings if name in JUDGE or name.startswith("limits.")):
        loud = any(name in DECIDING or name.startswith("limits.") for name in differ)
        yield Note(f"The runs differ in {', '.join(differ)}: see the settings.", loud)


def _of_run(run: Run) -> Iterator[tuple[str, str]]:
    """Yield (text of the note, detail of this run), where the text has a place `{}` for the details of all runs."""
    of_total = f"of {len(run.table)}"
    if run.header.get("isolation") == "none":
        yield (
            "Judged without isolation (isolation: none): {}. The programs could read and change what the judge could, expected "
            "outputs and verdicts included: believe these numbers only if you trust every program.",
            "",
        )
    if failed := {task for (task, _), sample in run.samples.items() if sample["verdict"] == INFRA_ERROR}:
        yield (
            "The judge itself failed (infra_error): {}. These samples are charged to nobody: one that had compiled counts as "
            "compiled, and a task is left out of every other number that needs one of them. Judge them again before you publish.",
            f"{run.verdicts[INFRA_ERROR]} {of_total} samples, on {counted(len(failed), 'task')}",
        )
    if run.missing:
        text = "Not finished: {}. The numbers are of the judged samples and will change."
        yield text, f"{run.missing} of {run.planned} samples not judged"
    size = run.told("tasks", "set_size") or 0
    if len(run.asked) < size:
        yield (
            "A part of the task set alone: {}. These numbers do not compare with those of the whole set.",
            f"{counted(len(run.asked), 'task')} of {size}",
        )
    if missing := run.verdicts[NO_ANSWER]:
        yield (
            "Samples without an answer: {}. They count as failures, so that leaving out hard tasks cannot raise a number. If sampling "
            "was cut off, run `cuset generate` again, and judge what it adds.",
            f"{missing} {of_total}",
        )
    if cut := int(run.lines["finish_reason"].eq("length").sum()):
        text = "Answers cut at max_tokens: {}. A program without its end does not compile: sample again with more of them."
        yield text, f"{cut} {of_total}"
    if flagged := int(run.lines["flags"].astype(bool).sum()):
        yield "Samples with a suspicion of the judge: {}. Look at them before you quote a number.", str(flagged)
    if extra := len(run.judged - run.asked):
        yield (
            "More tasks in the results than the run was asked for, left from another split or limit: {}. They are counted; "
            "judge into a file of its own to keep them out.",
            f"{extra} beyond {len(run.asked)}",
        )


def run_settings(runs: Sequence[Run]) -> dict[str, list[str]]:
    """Return the settings of the runs as a mapping from name to the value in each run.

    The value is "" where the header does not say. A key inside an object is named with a dot, such as
    `generation.max_tokens`.
    """

    def flat(value: Any, name: str) -> Iterator[tuple[str, str]]:
        if name in NO_SETTINGS or value is None or value in ("", [], {}):
            return
        if isinstance(value, dict):
            for key, inner in value.items():
                yield from flat(inner, f"{name}.{key}" if name else key)
        elif isinstance(value, list):
            texts = Counter(
                " ".join(map(str, item.values())) if isinstance(item, dict) else str(item) for item in value
            )
            yield name, " ".join(f"{count} × {text}" if count > 1 else text for text, count in texts.items())
        else:
            yield name, f"{value:g}" if isinstance(value, float) else str(value)

    by_run = [dict(flat({**run.header, "level": run.level, "samples a task": run.width}, "")) for run in runs]
    names = dict.fromkeys(name for settings in by_run for name in settings)
    return {name: [settings.get(name, "") for settings in by_run] for name in names}
