"""The report's files in one folder: Markdown, CSV, and the page; and its main table in the terminal."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd
from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from ..judge.rewards import REWARDS
from .cells import ABSENT, escape, p_text, render_table, table_frame
from .collection import FIELDS
from .numbers import Report
from .page import render_html
from .sections import methods, sections, summary
from .statistics import Rule
from .tables import conclusion, main_table


FORMATS = ("md", "csv", "html")
CSV_TABLES = (
    *("pass_at_k", "samples", "comparisons", "verdicts", "tokens", "families", "cases", "scores", "timing"),
    *("methods", "flags", "audit", "audit_notes", "settings", "settings_by_run"),
)
"""All that may be written, as csv/NAME.csv."""


def write_report(report: Report, folder: Path, formats: Sequence[str] = FORMATS) -> list[Path]:
    """Write report.md, csv/ and report.html into the folder, which is made.

    The files of an earlier report are removed first, those of other formats too: what lies there is of one report. Other
    files stay. Returns the files a reader opens first.
    """
    makers = {"md": ("report.md", render_markdown), "html": ("report.html", render_html)}
    pages = {name: make(report) for kind, (name, make) in makers.items() if kind in formats}
    tables = csv_tables(report) if "csv" in formats else {}
    for name in ("report.md", "report.html", *(f"csv/{name}.csv" for name in CSV_TABLES)):
        (folder / name).unlink(missing_ok=True)
    csv = folder / "csv"
    if csv.is_dir() and not csv.is_symlink() and not any(csv.iterdir()):
        csv.rmdir()
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in pages.items():
        (folder / name).write_text(text, encoding="utf-8", newline="\n")
    for name, frame in tables.items():
        csv.mkdir(exist_ok=True)
        frame.map(_safe).rename(columns=_safe).to_csv(csv / f"{name}.csv", index=False, lineterminator="\n")
    written = [folder / name for name in pages]
    if tables:
        written.insert("md" in formats, csv / "pass_at_k.csv")
    return written


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


def csv_tables(report: Report) -> dict[str, pd.DataFrame]:
    """Name of a file -> its rows: pass_at_k, samples, and the tables of the report. Rates are percentages."""
    tables = [table for section in sections(report) for table in section.tables]
    framed = {table.key: table_frame(table) for table in tables if table.key in CSV_TABLES}
    return {"pass_at_k": _rates(report), "samples": _samples(report)} | framed


def _rates(report: Report) -> pd.DataFrame:
    rows = []
    runs = {run.label: run for run in report.collection.runs}
    for flagged, rates in (("included", report.rates), ("left out", report.unflagged_rates or {})):
        for (label, rule, k, criterion), e in rates.items():
            key = (label, runs[label].model, runs[label].level, rule.value, k, criterion, flagged)
            values = [round(100 * value, 4) for value in (e.value, e.low, e.high)] if e else [None] * 3
            rows.append((*key, *values, *((e.tasks, e.left_out) if e else (None, None))))
    names = "run model level rule k criterion flagged_tasks percent low high tasks left_out"
    return pd.DataFrame(rows, columns=names.split(), dtype=object)


def _samples(report: Report) -> pd.DataFrame:
    """Rewards where the run's mean counts them: not of what was not run, or where the judge failed."""
    frames = []
    for run in report.collection.runs:
        lines = report.collection.lines(run)[[*FIELDS[: FIELDS.index("compare_s")], *REWARDS]].copy()
        lines["flags"] = ["; ".join(flags or ()) for flags in lines["flags"]]
        for name in REWARDS:
            lines[name] = None if run.compile_only else lines[name].map(lambda value: round(value, 6), "ignore")
        lines.insert(0, "run", run.label)
        lines.insert(1, "level", run.level)
        frames.append(lines.astype(object))
    return pd.concat(frames)


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
    shown = RichTable(title=Text(table.title), box=None, pad_edge=False)
    first = 1 if len({cell.text for cell in table.columns[0].cells}) == 1 else 0  # one model for all needs no column
    for column in table.columns[first:]:
        heading = Text(f"{(column.group.split() or [''])[0]}\n{column.name}")
        shown.add_column(heading, justify="left" if column.text else "right")
    for row in table.rows:
        shown.add_row(*(Text(cell.text, style=("", "bold", "underline")[cell.rank]) for cell in row[first:]))
    console = Console(highlight=False)
    console.print(shown)
    absent = ((row, cell) for row in table.rows for cell in row if cell.text == ABSENT and cell.detail)
    for reason in dict.fromkeys(f"{ABSENT} {row[1].text}: {cell.detail}" for row, cell in absent):
        console.print(Text(reason))
    for comparison in report.comparisons:
        if comparison.criterion == report.collection.criteria[-1]:
            pair = f"{comparison.first} and {comparison.second}"
            console.print(Text(f"{pair}: {conclusion(comparison)} (p {p_text(comparison.adjusted)})"))
