"""The order of a report, for Markdown and the page alike: its sections, and the tables on methods, the audit and the settings."""

import numpy as np

from . import tables
from .cells import (
    ABSENT,
    Cell,
    Column,
    Section,
    Table,
    decimal,
    estimate_cell,
    interval_cell,
    label,
    number,
    number_column,
    points,
    text_column,
)
from .collect import natural_key
from .collection import CRITERIA, Run
from .inputs import NOTION, Measures
from .notes import counted, run_settings
from .numbers import Report
from .statistics import RESAMPLES, Rule
from .tables import VERDICTS, main_table


NOTED_TASKS = 20  # ids that a note lists; CSV has all
RIGHT = {"compiled": "compiles", "passed": "passes"}  # by criterion


def sections(report: Report) -> list[Section]:
    """All that hold something."""
    flagged = [main_table(report, rule, unflagged=True) for rule in Rule] if report.unflagged_rates else []
    ranks = "Best in bold, second-best underlined, within a model where it has several runs. A rank is no test: see the comparison."
    made = [
        ("methods", "Methods compared", [method_table(report)], ""),
        (
            "results",
            "Results",
            [main_table(report, rule) for rule in Rule],
            f"{ranks} How the numbers are made: {methods(report)}",
        ),
        ("comparison", "Paired comparison", [tables.comparison_table(report)], ""),
        ("verdicts", "Verdicts", [tables.verdict_table(report), tables.flag_table(report)], ""),
        ("tokens", "Tokens used", [tables.token_table(report)], ""),
        ("families", "Results by family", [tables.family_table(report), tables.case_table(report)], ""),
        ("time", "Time and speed-ups", [tables.timing_table(report), tables.speed_table(report)], ""),
        ("audit", "Audit", [audit_table(report), *flagged, audit_note_table(report)], audit_text(report)),
        ("settings", "Settings", settings_tables(report), ""),
    ]
    filled = [Section(key, title, list(filter(None, tables_of)), text) for key, title, tables_of, text in made]
    return [section for section in filled if section.tables or section.text]


def methods(report: Report) -> str:
    """How the numbers were made, in words that can stand in a paper."""
    text = (
        f"The task is the unit: intervals are 95% percentile bootstrap intervals over tasks ({RESAMPLES:,} resamples, seed "
        f"{report.seed}), the samples of a task kept together; where all tasks agree, the exact binomial interval. "
        "Samples on which the judge itself failed (infra_error) are not charged to the model: one that had compiled counts as "
        "compiled, and a task is left out of every other number that needs one. A task or sample without an answer counts as a failure."
    )
    if report.comparisons:
        count = sum(comparison.criterion == report.comparisons[0].criterion for comparison in report.comparisons)
        text += (
            " Methods are compared on the same tasks: exact two-sided McNemar test on first samples, and a paired bootstrap of "
            "the difference in pass@k."
        )
        if count > 1:
            text += f" p is adjusted by Holm's method over the {count} comparisons of each criterion."
    return text


def summary(report: Report) -> str:
    """The line below the title."""
    tasks, runs = len(report.collection.tasks), len(report.collection.runs)
    return f"{counted(tasks, 'task')}, {counted(runs, 'run')}. cuset-stage {report.version}, {report.created}."


def method_table(report: Report) -> Table | None:
    """A row a method: pass@k, pairs, confidence, tokens and cost; None where neither pairs nor confidence were given.

    The cost is in tokens a program that passes (or compiles, where nothing was run): those of a sample over the share of such samples.
    """
    if not report.measures:
        return None
    collection = report.collection
    criterion = collection.criteria[-1]
    runs = {run.label: run for run in collection.runs}
    names = [*runs, *(name for name in report.measures if name not in runs)]
    measures = [report.measures.get(name, Measures()) for name in names]
    columns = [Column("Method", [label(name, run=name) if name in runs else label(name) for name in names], text=True)]
    for k in report.ks:
        rates = [report.rates.get((name, Rule.FIRST, k, criterion)) for name in names]
        columns.append(Column(f"pass@{k}", [estimate_cell(rate) for rate in rates], f"{CRITERIA[criterion]} (%)"))
    if any(of.pairs for of in measures):
        columns.append(Column("right preferred (%)", [estimate_cell(of.pairs) for of in measures], "Pairs"))
    if any(of.confidence for of in measures):
        notions = [of.confidence and of.confidence["notions"][NOTION] for of in measures]
        for kind, name in (("sensitive", "CUDA"), ("neutral", "neutral")):
            means = [interval_cell(of and of[kind]["mean"], decimal) for of in notions]
            columns.append(Column(name, means, "Mean confidence"))
        distances = [of and of["ks"] and of["ks"]["d"] for of in notions]
        columns.append(Column("KS distance", [interval_cell(of, decimal) for of in distances], "Confidence"))
        gaps = [of and of["windows"]["on_sensitive"]["centre"]["difference"] for of in notions]
        cells = [interval_cell(of, points, 100) for of in gaps]
        columns.append(Column("low windows on CUDA (points)", cells, "Confidence"))
    costs = [_tokens(report, runs[name]) if name in runs else (None, None) for name in names]
    columns.append(Column("a sample", [number(mean) for mean, _ in costs], "Tokens"))
    columns.append(Column(f"a program that {RIGHT[criterion]}", [number(cost) for _, cost in costs], "Tokens"))
    text = (
        "Pairs: how often the model prefers the right program to a wrong one; near 50 before training. Confidence: of tokens that depend on execution "
        "constraints and of the others, and the KS distance between the two. Low windows on CUDA: their share minus that of all windows, by "
        "the middle token; 0 where low windows have nothing to do with CUDA. Tokens: of a sample, and those divided by the share of samples whose "
        f"program {RIGHT[criterion]}."
    )
    return Table("methods", "Methods compared", columns, text)


def _tokens(report: Report, run: Run) -> tuple[float | None, float | None]:
    """Tokens a sample, and tokens a right program."""
    lines = report.collection.lines(run)
    mean = lines["tokens"].dropna().astype(float).mean()
    outcomes = report.collection.outcomes(run, report.collection.criteria[-1])
    share = np.nanmean(outcomes) if not np.isnan(outcomes).all() else 0.0
    return mean, mean / share if share else None


def audit_table(report: Report) -> Table | None:
    """Tasks with weak oracles; None when the audit flags none."""
    collection = report.collection
    tasks = [task for task in collection.tasks if task.findings]
    columns = [
        Column("Task", [label(task.id, task=task.id) for task in tasks], text=True),
        text_column("Name", [task.name for task in tasks]),
        text_column("Finding", ["; ".join(task.findings) for task in tasks]),
    ]
    for run in collection.runs:
        verdicts = [run.verdict(task.id, 0) for task in tasks]
        names = [VERDICTS.get(verdict, verdict) for verdict in verdicts]
        columns.append(text_column(run.label, names, "First sample"))
    text = "Their oracles are weak: a wrong program may pass them. They count in the main tables; the tables without them stand here."
    return Table("audit", "Flagged tasks", columns, text) if tasks else None


def audit_text(report: Report) -> str:
    """How many tasks the audit covers, and whether it flags any."""
    covered, tasks = report.collection.audited, len(report.collection.tasks)
    if not covered:
        return "No audit of the task set was given: weak oracles, if there are any, are not marked."
    flags = "" if report.unflagged_rates else " and flags none of them"
    rest = "of the others nothing is known; run `cuset audit-tasks` again to resume it, then judge or report again"
    return f"The audit covers {covered} of {tasks} tasks{flags}{f': {rest}' if covered < tasks else ''}."


def audit_note_table(report: Report) -> Table | None:
    """What the audit notes besides, a row a kind; None without any."""
    noted = dict(sorted(report.collection.audit_notes.items()))
    which = []
    for texts in noted.values():
        tasks = sorted(texts, key=natural_key)
        more = ", ..." if len(tasks) > NOTED_TASKS else ""
        which.append(Cell(", ".join(tasks[:NOTED_TASKS]) + more, ", ".join(tasks)))
    columns = [
        text_column("Note", [code.replace("_", " ") for code in noted]),
        number_column("tasks", map(len, noted.values())),
        Column("Which", which, text=True),
        text_column("The first one", [texts[min(texts, key=natural_key)] for texts in noted.values()]),
    ]
    text = "They put no verdict in doubt; numbers of another judge on the same tasks may differ for them."
    return Table("audit_notes", "What the audit notes besides", columns, text) if noted else None


def settings_tables(report: Report) -> list[Table]:
    """What the runs were made with: what is the same for all of them, and a column a run for what differs."""
    runs = report.collection.runs
    settings = {name: values for name, values in run_settings(runs).items() if any(values)}
    same = {name: values[0] for name, values in settings.items() if len(set(values)) == 1}
    differ = {name: values for name, values in settings.items() if name not in same}
    value = "all runs" if len(runs) > 1 else "value"
    tables = [Table("settings", "Settings", [text_column("Setting", same), text_column(value, same.values())])]
    if differ:
        columns = [text_column("Setting", differ)]
        for i, run in enumerate(runs):
            columns.append(text_column(run.label, [values[i] or ABSENT for values in differ.values()]))
        tables.append(Table("settings_by_run", "Settings that differ", columns))
    return tables
