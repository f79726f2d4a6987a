"""The sections of a report in their order, for Markdown and the HTML page alike.

The tables on the audit and the settings, and the text on methods, are made here. The tables of results are made in
`tables`.
"""

from datetime import UTC, datetime

from .. import __version__
from . import tables
from .cells import ABSENT, Column, Section, Table, label, text_column
from .notes import counted, run_settings
from .numbers import Report
from .statistics import RESAMPLES, Rule
from .tables import VERDICTS, main_table


def sections(report: Report) -> list[Section]:
    """Return the sections in their order, without those that are empty."""
    ranks = "Best in bold, second-best underlined, within a model where it has several runs. A rank is no test: see the comparison."
    results = [main_table(report, rule) for rule in Rule]
    all_sections = [
        ("results", "Results", results, f"{ranks} How the numbers are made: {methods(report)}"),
        ("comparison", "Paired comparison", [tables.comparison_table(report)], ""),
        ("verdicts", "Verdicts", [tables.verdict_table(report), tables.flag_table(report)], ""),
        ("tokens", "Tokens used", [tables.token_table(report)], ""),
        ("families", "Results by family", [tables.family_table(report)], ""),
        ("time", "Time and speed-ups", [tables.timing_table(report), tables.speed_table(report)], ""),
        ("audit", "Audit", [audit_table(report)], audit_text(report)),
        ("settings", "Settings", [settings_table(report)], ""),
    ]
    filled = [Section(key, title, list(filter(None, tables_of)), text) for key, title, tables_of, text in all_sections]
    return [section for section in filled if section.tables or section.text]


def methods(report: Report) -> str:
    """Return a description of how the numbers are made, in words that a paper can use."""
    unit, kept_together, test = "task", "samples of a task", "exact two-sided McNemar test"
    if report.collection.clusters is not None:  # CUDABench: each operation is asked for at several sizes
        unit, kept_together = "operation", "sizes and samples of an operation"
        test = "two-sided t test over operations"
    text = (
        f"The {unit} is the unit: intervals are 95% percentile bootstrap intervals over {unit}s ({RESAMPLES:,} resamples, seed 0), "
        f"the {kept_together} kept together; where all tasks agree, the exact binomial interval. "
        "Samples on which the judge itself failed (infra_error) are not charged to the model: one that had compiled counts as "
        "compiled, and a task is left out of every other number that needs one. A task or sample without an answer counts as a failure."
    )
    if report.comparisons:
        count = sum(comparison.criterion == report.comparisons[0].criterion for comparison in report.comparisons)
        text += f" Methods are compared on the same tasks: {test} on first samples, and a paired bootstrap of the difference in pass@k."
        if count > 1:
            text += f" p is adjusted by Holm's method over the {count} comparisons of each criterion."
    return text


def summary(report: Report) -> str:
    """Return the line below the title: the number of tasks and runs, the version and the time."""
    tasks, runs = len(report.collection.tasks), len(report.collection.runs)
    now = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    return f"{counted(tasks, 'task')}, {counted(runs, 'run')}. cuset-stage {__version__}, {now}."


def audit_table(report: Report) -> Table | None:
    """Return the tasks with weak oracles and their verdicts, or None if the audit flags no task."""
    collection = report.collection
    tasks = [task for task in collection.tasks if task.findings]
    columns = [
        Column("Task", [label(task.id, task=task.id) for task in tasks], text=True),
        text_column("Name", [task.name for task in tasks]),
        text_column("Finding", ["; ".join(task.findings) for task in tasks]),
    ]
    for run in collection.runs:
        columns.append(text_column(run.label, [VERDICTS[run.verdict(task.id, 0)] for task in tasks], "First sample"))
    text = "Their oracles are weak: a wrong program may pass them. They count in every table."
    return Table("audit", "Flagged tasks", columns, text) if tasks else None


def audit_text(report: Report) -> str:
    """Return a sentence on how many tasks the audit covers, and whether it flags any."""
    covered, tasks = report.collection.audited, len(report.collection.tasks)
    if not covered:
        return "No audit of the task set was given: weak oracles, if there are any, are not marked."
    flags = "" if any(task.findings for task in report.collection.tasks) else " and flags none of them"
    rest = "of the others nothing is known; run `cuset audit-tasks` again to resume it, then judge or report again"
    return f"The audit covers {covered} of {tasks} tasks{flags}{f': {rest}' if covered < tasks else ''}."


def settings_table(report: Report) -> Table:
    """Return the settings of the runs. Those that differ between runs come first."""
    runs = report.collection.runs
    settings = run_settings(runs)
    ordered = sorted(settings, key=lambda name: len(set(settings[name])) == 1)
    columns = [text_column("Setting", ordered)]
    for i, run in enumerate(runs):
        columns.append(text_column(run.label, [settings[name][i] or ABSENT for name in ordered]))
    return Table("settings", "Settings", columns)
