"""The report's files in one folder: Markdown, CSV, and the page; and its main table in the terminal."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
from rich.console import Console
from rich.text import Text

from .cells import escape, p_text, print_table, render_markdown, table_frame
from .collection import FIELDS
from .numbers import Report
from .page import render_html
from .statistics import Rule
from .tables import conclusion, main_table, sections, summary


SOMETIMES = ("comparisons", "flags", "speed", "audit")
"""Tables that not every report has, by their keys."""


def write_report(report: Report, folder: Path) -> list[Path]:
    """Write report.md, report.html and csv/ into the folder, which is made; returns the two files that a reader opens first.

    Tables of an earlier report that this one does not have are removed; other files stay.
    """
    csv = folder / "csv"
    csv.mkdir(parents=True, exist_ok=True)
    pages = {"report.md": report_markdown(report), "report.html": render_html(report)}
    for name, text in pages.items():
        (folder / name).write_text(text, encoding="utf-8", newline="\n")
    for name in SOMETIMES:
        (csv / f"{name}.csv").unlink(missing_ok=True)
    samples = []
    for run in report.collection.runs:
        lines = report.collection.lines(run)[[*FIELDS]].astype(object)
        lines["flags"] = ["; ".join(flags or ()) for flags in lines["flags"]]
        lines.insert(0, "run", run.label)
        lines.insert(1, "level", run.level)
        samples.append(lines)
    frames = {table.key: table_frame(table) for section in sections(report) for table in section.tables}
    for name, frame in {**frames, "samples": pd.concat(samples)}.items():
        frame.map(_safe).rename(columns=_safe).to_csv(csv / f"{name}.csv", index=False, lineterminator="\n")
    return [folder / name for name in pages]


def report_markdown(report: Report) -> str:
    """The whole report."""
    ordered = sorted(report.collection.notes, key=lambda note: not note.loud)
    notes = [f"{'**Attention.** ' * note.loud}{escape(note.text)}" for note in ordered]
    return render_markdown(report.title, summary(report), sections(report), notes)


def _safe(value: Any) -> Any:
    """A spreadsheet runs text that begins like a formula; messages come from untrusted programs."""
    if not isinstance(value, str):
        return value
    value = value.replace("\0", "\N{REPLACEMENT CHARACTER}")
    return f"'{value}" if value.startswith(("=", "+", "-", "@", "\t", "\r")) else value


def print_report(report: Report) -> None:
    """Notes to standard error; the first rule's table and the comparisons' findings to standard output."""
    errors = Console(stderr=True, highlight=False, soft_wrap=True)
    for note in report.collection.notes:
        if note.loud:
            errors.print(Text(f"! {note.text}", style="yellow"))
    table = main_table(report, Rule.FIRST)
    one_model = len({run.model for run in report.collection.runs}) == 1  # which needs no column
    print_table(replace(table, columns=table.columns[1:]) if one_model else table)
    for comparison in report.comparisons:
        if comparison.criterion == report.collection.criteria[-1]:
            pair = f"{comparison.first} and {comparison.second}"
            print(f"{pair}: {conclusion(comparison)} (p {p_text(comparison.adjusted)})")
