"""The report's files in one folder: Markdown, CSV, and the page; and its main table in the terminal."""

from collections.abc import Iterable, Iterator, Sequence
from csv import writer
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from . import rewards
from .cells import Table, p_text
from .collection import FIELDS, INFRA_ERROR
from .markdown import render_markdown
from .numbers import Report
from .page import render_html
from .sections import sections
from .statistics import Rule
from .tables import conclusion, main_table


FORMATS = ("md", "csv", "html")
CSV_TABLES = (
    *("pass_at_k", "samples", "comparisons", "verdicts", "tokens", "families", "cases", "scores", "timing"),
    *("flags", "audit", "audit_notes", "settings", "settings_by_run"),
)
"""All that may be written, as csv/NAME.csv."""


def write_report(report: Report, folder: Path, formats: Sequence[str] = FORMATS) -> list[Path]:
    """Write report.md, csv/ and report.html into the folder, which is made.

    The files of an earlier report are removed first, those of other formats too: what lies there is of one report. Other
    files stay. Returns the files a reader opens first.
    """
    pages = {"report.md": render_markdown(report)} if "md" in formats else {}
    if "html" in formats:
        pages["report.html"] = render_html(report)
    tables = csv_tables(report) if "csv" in formats else {}
    for name in ("report.md", "report.html", *(f"csv/{name}.csv" for name in CSV_TABLES)):
        (folder / name).unlink(missing_ok=True)
    csv = folder / "csv"
    if csv.is_dir() and not csv.is_symlink() and not any(csv.iterdir()):
        csv.rmdir()
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in pages.items():
        (folder / name).write_text(text, encoding="utf-8", newline="\n")
    for name, rows in tables.items():
        csv.mkdir(exist_ok=True)
        with (csv / f"{name}.csv").open("w", encoding="utf-8", newline="") as file:
            writer(file, lineterminator="\n").writerows([_safe(value) for value in row] for row in rows)
    written = [folder / name for name in pages]
    if tables:
        written.insert("md" in formats, csv / "pass_at_k.csv")
    return written


def csv_tables(report: Report) -> dict[str, Iterable[Sequence[Any]]]:
    """Name of a file -> its rows: pass_at_k, samples, and the tables of the report. Rates are percentages."""
    tables: dict[str, Iterable[Sequence[Any]]] = {"pass_at_k": _rates(report), "samples": _samples(report)}
    for section in sections(report):
        tables |= {table.key: _rows(table) for table in section.tables if table.key in CSV_TABLES}
    return tables


def _rates(report: Report) -> Iterator[Sequence[Any]]:
    yield (
        *("run", "model", "level", "rule", "k", "criterion", "flagged_tasks"),
        *("percent", "low", "high", "tasks", "left_out"),
    )
    runs = {run.label: run for run in report.collection.runs}
    for flagged, rates in (("included", report.rates), ("left out", report.unflagged_rates or {})):
        for (label, rule, k, criterion), e in rates.items():
            values = [*(round(100 * v, 4) for v in (e.value, e.low, e.high)), e.tasks, e.left_out] if e else [None] * 5
            yield label, runs[label].model, runs[label].level, rule.value, k, criterion, flagged, *values


def _samples(report: Report) -> Iterator[Sequence[Any]]:
    """Rewards where the run's mean counts them: not of what was not run, or where the judge failed."""
    fields = FIELDS[: FIELDS.index("compare_s")]
    yield "run", "level", *fields, "kevin", "grpo"
    for run in report.collection.runs:
        for line in report.collection.lines(run).to_dict("records"):
            counts = not run.compile_only and line["verdict"] != INFRA_ERROR
            scores = [round(reward(line), 6) if counts else None for reward in (rewards.kevin, rewards.grpo)]
            line["flags"] = "; ".join(line["flags"] or ())
            yield run.label, run.level, *(line[field] for field in fields), *scores


def _rows(table: Table) -> Iterator[Sequence[Any]]:
    """The table's values; what stands behind one, such as an interval, in columns of its own."""
    columns: list[Sequence[Any]] = []
    for column, cells in zip(table.columns, zip(*table.rows, strict=True), strict=True):
        columns.append([column.heading, *(cell.value for cell in cells)])
        if any(cell.ends for cell in cells):
            for i, end in enumerate(("low", "high")):
                columns.append([f"{column.heading} ({end})", *(cell.ends and cell.ends[i] for cell in cells)])
        elif any(cell.detail for cell in cells):
            columns.append([f"{column.heading} (interval)", *(cell.detail for cell in cells)])
    yield from zip(*columns, strict=True)


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
    first = 1 if len({row[0].text for row in table.rows}) == 1 else 0  # one model for all needs no column
    for column in table.columns[first:]:
        group = column.group.split()[0] if column.group else ""
        shown.add_column(Text(f"{group}\n{column.name}"), justify="left" if column.text else "right")
    for row in table.rows:
        shown.add_row(*(Text(cell.text, style=("", "bold", "underline")[cell.rank]) for cell in row[first:]))
    console = Console(highlight=False)
    console.print(shown)
    for comparison in report.comparisons:
        if comparison.criterion == report.collection.criteria[-1]:
            found = f"{comparison.first} and {comparison.second}: {conclusion(comparison)}"
            console.print(Text(f"{found} (p {p_text(comparison.adjusted)})"))
