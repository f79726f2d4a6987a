"""The order of a report: its sections with their tables, for Markdown and the page alike."""

from collections.abc import Sequence
from dataclasses import dataclass

from .cells import Table
from .details import audit_note_table, audit_table, audit_text, flag_table, score_table, settings_tables, timing_table
from .notes import counted
from .numbers import Report
from .statistics import RESAMPLES, Rule
from .tables import case_table, comparison_table, family_table, main_table, token_table, verdict_table


@dataclass(frozen=True)
class Section:
    """`text` stands below its tables."""

    key: str
    title: str
    tables: Sequence[Table]
    text: str = ""


def sections(report: Report) -> list[Section]:
    """All that hold something."""
    flagged = [main_table(report, rule, unflagged=True) for rule in Rule] if report.unflagged_rates else []
    ranks = "Best in bold, second-best underlined, within a model where it has several runs. A rank is no test: see the comparison."
    results = [main_table(report, rule) for rule in Rule]
    made = [
        Section("results", "Results", results, ranks),
        Section("comparison", "Paired comparison", _present(comparison_table(report))),
        Section("verdicts", "Verdicts", _present(verdict_table(report), flag_table(report))),
        Section("tokens", "Tokens used", [token_table(report)]),
        Section("families", "Results by family", _present(family_table(report), case_table(report))),
        Section("time", "Time and scores", _present(timing_table(report), score_table(report))),
        Section(
            "audit",
            "Audit",
            _present(audit_table(report), *flagged, audit_note_table(report)),
            "" if flagged else audit_text(report),
        ),
        Section("settings", "Settings", settings_tables(report)),
    ]
    return [section for section in made if section.tables or section.text]


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


def _present(*tables: Table | None) -> list[Table]:
    return [table for table in tables if table]
