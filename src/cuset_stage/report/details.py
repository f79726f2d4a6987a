"""The tables behind the results: cases, times, published scores, suspicions, the audit, the settings."""

import json
from collections import Counter
from typing import Any

from . import numbers
from .build import Report
from .cells import ABSENT, Cell, Column, Table, estimate_cell, label, number, percent, seconds
from .collect import natural_key
from .collection import Run
from .tables import VERDICTS


NOTED_TASKS = 20  # ids that a note lists; CSV has all


def score_table(report: Report) -> Table | None:
    """Rewards of the reinforcement learning papers and fast_p; None when nothing was run."""
    found = [(run, numbers.scores(report.collection, run, seed=report.seed)) for run in report.collection.runs]
    if all(score.kevin is None for _, score in found):
        return None
    timed = any(score.fast for _, score in found)
    columns = [Column("Method", text=True), Column("Kevin"), Column("GRPO report")]
    if timed:
        columns += [Column(f"fast_{p:g} (%)") for p in numbers.FAST_P] + [Column("median speed-up")]
    rows = []
    for run, score in found:
        row = [label(run.label, run=run.label), number(score.kevin, 3), number(score.grpo, 3)]
        if timed:
            row += [
                estimate_cell(score.fast[p] if score.fast else None, "no speed-up measured") for p in numbers.FAST_P
            ]
            row.append(number(score.speedup.median if score.speedup else None, 2))
        rows.append(row)
    text = (
        "Mean reward a sample. Kevin: 0.3·correct + speed-up if correct. GRPO report: 0.5·compiled + 1.0·correct + "
        "0.5·min(speed-up, 3) if correct. "
    )
    text += (
        "A right sample without a measured speed-up gets none. fast_p: share of all tasks whose first sample is right and more than p "
        "times as fast as the reference (p = 0: right)."
        if timed
        else "No speed-up was measured in these runs, so the speed terms are 0."
    )
    return Table("scores", "Published scores", columns, rows, text)


def case_table(report: Report) -> Table | None:
    """Which cases fail; None when no task has two."""
    collection = report.collection
    if not any(len(sample.get("cases") or ()) > 1 for run in collection.runs for sample in collection.judged(run)):
        return None
    counts = {run.label: numbers.case_counts(collection, run) for run in collection.runs}
    names = sorted({name for found in counts.values() for name in found})
    rows = []
    for name in names:
        row = [label(name)]
        for found in counts.values():
            passed, judged = found.get(name, (0, 0))
            share = passed / judged if judged else None
            row += [
                Cell(ABSENT) if share is None else Cell(percent(share), round(100 * share, 4), shade=share),
                number(judged),
            ]
        rows.append(row)
    columns = [Column("Case", text=True)]
    columns += [Column(name, run.label) for run in collection.runs for name in ("passed (%)", "judged")]
    return Table(
        "cases",
        "Results by case",
        columns,
        rows,
        "Samples that passed a case, of those it was judged on; a sample passes when all its cases do.",
    )


def timing_table(report: Report) -> Table:
    """Seconds a sample."""
    rows = []
    for run in report.collection.runs:
        found = numbers.timing(report.collection, run)
        row = [label(run.label, run=run.label)]
        for spread in (found.compile, found.run, found.compare, found.overhead):
            row += [seconds(spread.median if spread else None), seconds(spread.p95 if spread else None)]
        rows.append([*row, number(found.cached)])
    groups = ("nvcc", "program", "comparison", "judge's overhead")
    columns = [Column("Method", text=True)]
    columns += [Column(name, f"{group} (s)") for group in groups for name in ("median", "95%")]
    return Table(
        "timing",
        "Time a sample",
        [*columns, Column("compile cache hits")],
        rows,
        "Seconds a sample, without samples that hold no code or repeat another one's; compilations answered from the cache are left out of nvcc's. "
        "Overhead is what the judge itself adds.",
    )


def flag_table(report: Report) -> Table | None:
    """Suspicions of the judge, counted in samples; None without any."""
    collection = report.collection
    counts = {
        run.label: Counter(flag for sample in collection.judged(run) for flag in sample.get("flags") or ())
        for run in collection.runs
    }
    flags = sorted({flag for count in counts.values() for flag in count})
    if not flags:
        return None
    rows = [[label(flag), *(number(counts[run.label][flag]) for run in collection.runs)] for flag in flags]
    columns = [Column("Suspicion", text=True), *(Column(run.label) for run in collection.runs)]
    return Table(
        "flags",
        "Suspicions",
        columns,
        rows,
        "Samples the judge passed on with a warning. They stand in every number above as they were judged.",
    )


def audit_table(report: Report) -> Table | None:
    """Tasks with weak oracles; None when the audit flags none."""
    collection = report.collection
    rows = []
    for task in collection.tasks:
        if task.findings:
            row = [label(task.id, task=task.id), label(task.name), label("; ".join(task.findings))]
            for run in collection.runs:
                verdict = run.verdict(task.id, 0)
                row.append(label(VERDICTS.get(verdict, verdict)))
            rows.append(row)
    columns = [Column("Task", text=True), Column("Name", text=True), Column("Finding", text=True)]
    columns += [Column(run.label, "First sample", text=True) for run in collection.runs]
    text = (
        f"{len(rows)} of {len(collection.tasks)} tasks have an oracle that the audit found weak: a wrong program may pass them. They count "
        "in the main tables; the tables without them stand here."
    )
    return Table("audit", "Flagged tasks", columns, rows, text) if rows else None


def audit_text(report: Report) -> str:
    """What stands in the place of flagged tasks when there are none."""
    covered, tasks = report.collection.audited, len(report.collection.tasks)
    if covered is None:
        return "No audit of the task set was given: weak oracles, if there are any, are not marked."
    if covered < tasks:
        return f"The audit covers {covered} of {tasks} tasks and flags none of them: of the others nothing is known."
    return "The audit flags none of these tasks."


def audit_note_table(report: Report) -> Table | None:
    """What the audit notes besides, a row a kind; None without any."""
    rows = []
    for code, noted in sorted(report.collection.audit_notes.items()):
        tasks = sorted(noted, key=natural_key)
        shown = ", ".join(tasks[:NOTED_TASKS]) + (", ..." if len(tasks) > NOTED_TASKS else "")
        rows.append(
            [label(code.replace("_", " ")), number(len(tasks)), Cell(shown, ", ".join(tasks)), label(noted[tasks[0]])]
        )
    columns = [
        Column("Note", text=True),
        Column("tasks"),
        Column("Which", text=True),
        Column("The first one", text=True),
    ]
    text = "They put no verdict in doubt; numbers of another judge on the same tasks may differ for them."
    return Table("audit_notes", "What the audit notes besides", columns, rows, text) if rows else None


def settings_tables(report: Report) -> list[Table]:
    """What the runs were made with: what is the same for all of them, and a column a run for what differs."""
    runs = report.collection.runs
    same, different = [], []
    for name, values in _settings(runs):
        texts = [_text(value) for value in values]
        if set(texts) == {ABSENT}:
            continue
        if len(set(texts)) == 1:
            same.append([label(name), label(texts[0])])
        else:
            different.append([label(name), *(label(text) for text in texts)])
    setting = Column("Setting", text=True)
    tables = [
        Table("settings", "Settings", [setting, Column("all runs" if len(runs) > 1 else "value", text=True)], same)
    ]
    if different:
        columns = [setting, *(Column(run.label, text=True) for run in runs)]
        tables.append(Table("settings_by_run", "Settings that differ", columns, different))
    return tables


def _settings(runs: tuple[Run, ...]) -> list[tuple[str, list[Any]]]:
    def part(key: str, inner: str) -> list[Any]:
        return [(run.header.get(key) or {}).get(inner) for run in runs]

    def top(key: str) -> list[Any]:
        return [run.header.get(key) for run in runs]

    generation = ("model", "adapter", "temperature", "top_p", "seed", "max_tokens")
    known = {*generation, "level"}
    others = sorted({key for run in runs for key in run.header.get("generation") or {}} - known)
    limits = sorted({key for run in runs for key in run.header.get("limits") or {}})
    return [
        *((key.replace("_", " "), part("generation", key)) for key in (*generation, *others)),
        ("samples a task", [run.width for run in runs]),
        ("prompt level", [run.level for run in runs]),
        ("task set", part("tasks", "path")),
        ("task set, format", part("tasks", "format")),
        ("task set, SHA-256", part("tasks", "sha256")),
        ("answers, SHA-256", part("answers", "sha256")),
        ("extraction rule", top("extract")),
        ("compile only", ["yes" if run.compile_only else None for run in runs]),
        ("GPU", [_gpus(run) for run in runs]),
        ("CUDA toolkit", top("toolkit")),
        ("torch", top("torch")),
        ("architecture", top("arch")),
        ("compiler flags", [" ".join(run.header.get("flags") or []) for run in runs]),
        ("isolation", top("isolation")),
        *((f"limit {key}", part("limits", key)) for key in limits),
        ("cuset-stage", top("cuset_stage")),
        ("Python", top("python")),
        ("judged", top("created")),
    ]


def _gpus(run: Run) -> str:
    texts = [
        f"{gpu.get('name')} (compute capability {gpu.get('compute_capability')}, driver {gpu.get('driver')})"
        for gpu in run.header.get("gpus") or []
    ]
    return "; ".join(f"{count} × {text}" if count > 1 else text for text, count in Counter(texts).items())


def _text(value: Any) -> str:
    if value is None or value in ("", [], {}):
        return ABSENT
    if isinstance(value, (dict, list)):
        return json.dumps(value, sort_keys=True)
    return f"{value:g}" if isinstance(value, float) else str(value)
