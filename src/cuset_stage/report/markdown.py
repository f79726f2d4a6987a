"""The report as Markdown: good enough for a paper's appendix."""

import re

from .cells import Cell, Table
from .numbers import Report
from .sections import methods, sections, summary


def escape(text: str) -> str:
    """Text of a table cell or a sentence, shown as it is. An underscore inside a word is no markup."""
    text = re.sub(r"\s+", " ", text)
    return re.sub(r"([\\`*\[\]<>|~$]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9]))", r"\\\1", text)


def render_markdown(report: Report) -> str:
    """The whole report."""
    parts = [f"# {escape(report.title)}", summary(report)]
    notes = sorted(report.collection.notes, key=lambda note: not note.loud)
    if notes:
        parts.append("\n".join(f"- {'**Attention.** ' * note.loud}{escape(note.text)}" for note in notes))
    for section in sections(report):
        parts.append(f"## {section.title}")
        parts += [render_table(table, titled=table.title != section.title) for table in section.tables]
        parts += [escape(section.text)] * bool(section.text)
        if section.key == "results":
            parts.append(f"**How the numbers are made.** {escape(methods(report))}")
    return "\n\n".join(parts) + "\n"


def render_table(table: Table, *, titled: bool = True) -> str:
    """A heading, the table's sentence, and a pipe table whose group names stand in the column names."""
    lines = ["| " + " | ".join(escape(column.heading) for column in table.columns) + " |"]
    lines.append("|" + "|".join(" :--- " if column.text else " ---: " for column in table.columns) + "|")
    lines += ["| " + " | ".join(map(_cell, row)) + " |" for row in table.rows]
    parts = [f"### {escape(table.title)}" if titled else "", escape(table.text), "\n".join(lines)]
    return "\n\n".join(part for part in parts if part)


def _cell(cell: Cell) -> str:
    text = ("{}", "**{}**", "<u>{}</u>")[cell.rank].format(escape(cell.text))
    return f"{text} ({escape(cell.detail)})" if cell.detail else text
