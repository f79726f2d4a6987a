"""The report as Markdown: good enough for a paper's appendix."""

import re

from .build import Report
from .cells import Cell, Column, Table, counted
from .details import (
    audit_note_table,
    audit_table,
    audit_text,
    case_table,
    flag_table,
    score_table,
    settings_tables,
    timing_table,
)
from .statistics import Rule
from .tables import comparison_table, family_table, main_table, token_table, verdict_table


def escape(text: str) -> str:
    """Text of a table cell or a sentence, shown as it is."""
    text = re.sub(r"\s+", " ", text)
    return re.sub(
        r"([\\`*\[\]<>|~$]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9]))", r"\\\1", text
    )  # an underscore inside a word is none


def render_markdown(report: Report) -> str:
    """The whole report."""
    parts = [f"# {escape(report.title)}"]
    tasks = len(report.collection.tasks)
    counts = f"{counted(tasks, 'task')}, {counted(len(report.collection.runs), 'run')}"
    parts.append(f"{counts}. cuset-stage {report.version}, {report.created}.")
    for loud in (True, False):
        notes = [note for note in report.collection.notes if note.loud is loud]
        if notes:
            mark = "**Attention.** " if loud else ""
            parts.append("\n".join(f"- {mark}{escape(note.text)}" for note in notes))
    parts.append("## Results")
    parts += [render_table(main_table(report, rule), level=3) for rule in Rule]
    parts.append(
        "Best in bold, second-best underlined, within a model where it has several runs. A rank is no test; see the comparison."
    )
    parts.append(f"**How the numbers are made.** {escape(report.methods)}")
    if table := comparison_table(report):
        parts.append(render_table(table))
    parts += [render_table(build(report)) for build in (verdict_table, token_table, family_table)]
    parts += [render_table(table) for build in (case_table, score_table) if (table := build(report))]
    parts.append(render_table(timing_table(report)))
    if table := flag_table(report):
        parts.append(render_table(table))
    if table := audit_table(report):
        parts.append(render_table(table))
        parts += [render_table(main_table(report, rule, unflagged=True), level=3) for rule in Rule]
    else:
        parts.append(f"## Flagged tasks\n\n{audit_text(report)}")
    if table := audit_note_table(report):
        parts.append(render_table(table, level=3))
    parts += [render_table(table) for table in settings_tables(report)]
    return "\n\n".join(parts) + "\n"


def render_table(table: Table, *, level: int = 2) -> str:
    """A heading, the table's sentence, and a pipe table whose group names stand in the column names."""
    lines = ["| " + " | ".join(escape(_heading(column)) for column in table.columns) + " |"]
    lines.append("|" + "|".join(" :--- " if column.text else " ---: " for column in table.columns) + "|")
    lines += ["| " + " | ".join(_cell(cell) for cell in row) + " |" for row in table.rows]
    parts = [f"{'#' * level} {escape(table.title)}"]
    if table.text:
        parts.append(escape(table.text))
    return "\n\n".join([*parts, "\n".join(lines)])


def _heading(column: Column) -> str:
    return f"{column.group}: {column.name}" if column.group else column.name


def _cell(cell: Cell) -> str:
    text = escape(cell.text)
    text = {0: text, 1: f"**{text}**", 2: f"<u>{text}</u>"}[cell.rank]
    return f"{text} ({escape(cell.detail)})" if cell.detail else text
