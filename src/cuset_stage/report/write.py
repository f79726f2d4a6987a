"""Write the files of a report (Markdown, CSV and the HTML page), and print its main table to the terminal."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
from rich.console import Console
from rich.text import Text

from ..files import write_atomically
from .cells import escape, p_text, print_table, render_markdown, table_frame
from .collection import CSV_FIELDS
from .numbers import Report
from .page import render_html
from .sections import sections, summary
from .statistics import Rule
from .tables import conclusion, main_table


CSV_TABLES = (
    *("pass_at_k", "samples", "comparisons", "verdicts", "tokens", "families", "speed", "timing"),
    *("flags", "audit", "settings"),
)
"""Names of all tables that a report may have. Each is written to csv/NAME.csv."""


def write_report(report: Report, folder: Path) -> list[Path]:
    """Write report.md, csv/ and report.html into the folder, and return the files that a reader opens first.

    The folder is made if it does not exist. CSV tables of an earlier report that this one does not have are removed.
    Other files stay.
    """
    csv = folder / "csv"
    csv.mkdir(parents=True, exist_ok=True)
    for name, make in (("report.md", report_markdown), ("report.html", render_html)):
        write_atomically(folder / name, make(report))
    for name in CSV_TABLES:
        (csv / f"{name}.csv").unlink(missing_ok=True)
    for name, frame in csv_tables(report).items():
        text = frame.map(_safe).rename(columns=_safe).to_csv(index=False, lineterminator="\n")
        write_atomically(csv / f"{name}.csv", text)
    return [folder / "report.md", csv / "pass_at_k.csv", folder / "report.html"]


def report_markdown(report: Report) -> str:
    """Return the whole report as Markdown. Loud notes come first."""
    ordered = sorted(report.collection.notes, key=lambda note: not note.loud)
    notes = [f"{'**Attention.** ' * note.loud}{escape(note.text)}" for note in ordered]
    return render_markdown(report.title, summary(report), sections(report), notes)


def csv_tables(report: Report) -> dict[str, pd.DataFrame]:
    """Return the CSV tables by file name: pass_at_k, samples, and those tables of the report that are in `CSV_TABLES`.

    Rates are percentages.
    """
    rates, samples = [], []
    runs = {run.label: run for run in report.collection.runs}
    for (name, rule, k, criterion), rate in report.rates.items():
        row = {"run": name, "model": runs[name].model, "level": runs[name].level, "rule": rule.value, "k": k}
        row |= {"criterion": criterion, **dict.fromkeys(("percent", "low", "high", "tasks", "left_out"))}
        if rate:
            ends = zip(("percent", "low", "high"), (rate.value, rate.low, rate.high), strict=True)
            row |= {key: round(100 * value, 4) for key, value in ends}
            row |= {"tasks": rate.tasks, "left_out": rate.left_out}
        rates.append(row)
    for run in runs.values():
        lines = run.lines[[*CSV_FIELDS]].copy()
        lines["flags"] = ["; ".join(flags or ()) for flags in lines["flags"]]
        lines.insert(0, "run", run.label)
        lines.insert(1, "level", run.level)
        samples.append(lines)
    tables = [table for section in sections(report) for table in section.tables]
    frames = {table.key: table_frame(table) for table in tables if table.key in CSV_TABLES}
    return {"pass_at_k": pd.DataFrame(rates, dtype=object), "samples": pd.concat(samples)} | frames


def _safe(value: Any) -> Any:
    """Return the value in a form that is safe in a spreadsheet.

    Messages come from untrusted programs, and a spreadsheet would run text that begins like a formula. Such text gets
    a quote in front. NUL characters are replaced.
    """
    if not isinstance(value, str):
        return value
    value = value.replace("\0", "\N{REPLACEMENT CHARACTER}")
    return f"'{value}" if value.startswith(("=", "+", "-", "@", "\t", "\r")) else value


def print_report(report: Report) -> None:
    """Print the main numbers of a report.

    Loud notes go to standard error. The table under the first rule (CUDABench's) and the findings of the comparisons
    go to standard output.
    """
    errors = Console(stderr=True, highlight=False, soft_wrap=True)
    for note in report.collection.notes:
        if note.loud:
            errors.print(Text(f"! {note.text}", style="yellow"))
    table = main_table(report, Rule.FIRST)
    one_model = len({cell.text for cell in table.columns[0].cells}) == 1  # then no column is needed for it
    print_table(replace(table, columns=table.columns[1:]) if one_model else table)
    for comparison in report.comparisons:
        if comparison.criterion == report.collection.criteria[-1]:
            pair = f"{comparison.first} and {comparison.second}"
            print(f"{pair}: {conclusion(comparison)} (p {p_text(comparison.adjusted)})")
