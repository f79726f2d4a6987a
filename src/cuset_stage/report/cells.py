"""Tables as data, and how they are written.

A table is a list of columns of cells. A cell has the text that readers see, the value for CSV, and the filter that
selects the samples behind it. This module also formats numbers, and renders tables as Markdown, CSV, HTML and in the
terminal, so that all of these show the same cells.
"""

import itertools
import re
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import pandas as pd
from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from ..pages import template


if TYPE_CHECKING:
    from .statistics import Estimate  # it loads scipy


ABSENT = "–"
LAYOUTS = (  # arguments of `_laid_out`: gap, heading, longest, detailed; the widest layout comes first
    *((2, 40, 40, True), (2, 12, 40, True), (1, 0, 24, True)),
    *((2, 12, 24, False), (1, 0, 24, False), (1, 0, 12, False)),
)


@dataclass(frozen=True)
class Cell:
    """A cell of a table.

    Attributes:
        text: the text that readers see.
        value: the value in CSV.
        detail: an explanation beside the text, such as an interval. Parts are separated by ", ".
        ends: (low, high) of the interval that `detail` shows, for CSV.
        rank: 1 for the best cell of its group, 2 for the second-best, 0 for all others.
        shade: strength of the background colour, 0 to 1. None for no shade.
        bar: (low, value, high) of a bar below the text, each 0 to 1. None for no bar.
        link: filter that selects the samples behind the number, on the HTML page.
    """

    text: str
    value: Any = None
    detail: str = ""
    ends: tuple[float, float] | None = None
    rank: int = 0
    shade: float | None = None
    bar: tuple[float, float, float] | None = None
    link: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Column:
    """A column of a table.

    Attributes:
        name: name of the column.
        cells: its cells, one per row.
        group: heading that the column shares with its neighbours of the same group. Empty for none.
        text: whether the column holds text and is aligned to the left.
    """

    name: str
    cells: Sequence[Cell]
    group: str = ""
    text: bool = False

    @property
    def heading(self) -> str:
        """Name of the column with its group, for formats without a row of groups."""
        return f"{self.group}: {self.name}" if self.group else self.name


@dataclass(frozen=True)
class Table:
    """A table of a report.

    Attributes:
        key: identifier, which also names the CSV file.
        title: title that readers see.
        columns: its columns, all of the same length.
        text: explanation beside the table.
    """

    key: str
    title: str
    columns: Sequence[Column]
    text: str = ""

    @property
    def rows(self) -> list[tuple[Cell, ...]]:
        return list(zip(*(column.cells for column in self.columns), strict=True))

    @property
    def groups(self) -> list[tuple[str, int]]:
        """Runs of neighbouring columns with the same group, as (group, number of columns)."""
        runs = itertools.groupby(self.columns, key=lambda column: column.group)
        return [(group, len(list(columns))) for group, columns in runs]


@dataclass(frozen=True)
class Section:
    """A part of a report.

    Attributes:
        key: identifier of the section.
        title: title that readers see.
        tables: its tables.
        text: text below the tables.
        pictures: PNG by description. Only the HTML page shows them.
    """

    key: str
    title: str
    tables: Sequence[Table] = ()
    text: str = ""
    pictures: Mapping[str, bytes] = field(default_factory=dict)


def text_column(name: str, texts: Iterable[str], group: str = "") -> Column:
    """Return a left-aligned column of texts."""
    return Column(name, [label(text) for text in texts], group, text=True)


def number_column(name: str, values: Iterable[float | None], group: str = "", digits: int = 0) -> Column:
    """Return a column of numbers with so many decimals. None and NaN are shown as absent."""
    return Column(name, [number(value, digits) for value in values], group)


def label(text: str, **link: str) -> Cell:
    """Return a cell of text. The keywords are the filter of samples that it links to."""
    return Cell(text, text, link=link)


def number(value: float | None, digits: int = 0) -> Cell:
    """Return a cell with a number. None and NaN are shown as absent."""
    return Cell(ABSENT) if pd.isna(value) else Cell(f"{value:,.{digits}f}", round(value, 6))


def share(value: float | None, **link: str) -> Cell:
    """Return a cell with a share (0 to 1) as a percentage on a shaded background. The keywords are its filter."""
    return Cell(ABSENT) if pd.isna(value) else Cell(percent(value), round(100 * value, 4), shade=value, link=link)


def estimate_cell(estimate: "Estimate | None", reason: str = "", *, signed: bool = False) -> Cell:
    """Return a cell with a percentage and its interval.

    Args:
        estimate: the estimate as a share. None gives an absent cell.
        reason: why there is no estimate. It becomes the detail of the absent cell.
        signed: whether the estimate is a difference of two shares, shown with its sign in percentage points. Otherwise
            the number of tasks is given where some are left out, and a bar is drawn.
    """
    if estimate is None:
        return Cell(ABSENT, detail=reason)
    cell = interval_cell(vars(estimate), points if signed else percent, 100)
    if signed:
        return cell
    detail = cell.detail + (f", n = {estimate.tasks}" if estimate.left_out else "")
    return replace(cell, detail=detail, bar=(estimate.low, estimate.value, estimate.high))


def interval_cell(of: Mapping[str, float | None] | None, write: Callable[[float], str], scale: float = 1) -> Cell:
    """Return a cell with a value and its interval, if it has one.

    Args:
        of: a record with `value`, `low` and `high`. The ends may be None. If the record or its value is None, the cell
            is absent.
        write: function that formats a number.
        scale: factor of the values in CSV.
    """
    if of is None or of.get("value") is None:
        return Cell(ABSENT)
    value, *ends = (None if of[key] is None else round(scale * of[key], 6) for key in ("value", "low", "high"))
    if None in ends:
        return Cell(write(of["value"]), value)
    return Cell(write(of["value"]), value, f"{write(of['low'])} to {write(of['high'])}", tuple(ends))


def decimal(value: float) -> str:
    """Format a number with three decimals, or with two significant digits if its magnitude is below 0.1.

    With three decimals the confidence of an untrained model would be shown as 0.
    """
    if value == 0:
        return "0"
    return f"{value:.3f}" if abs(value) >= 0.0995 else f"{value:#.2g}"


def p_text(value: float) -> str:
    """Format a p-value with two to four decimals, the more the smaller it is."""
    if value < 0.0001:
        return "<0.0001"
    return f"{value:.{4 if value < 0.01 else 3 if value < 0.1 else 2}f}"


def p_cell(value: float | None) -> Cell:
    """Return a cell with a p-value, absent for None."""
    return Cell(ABSENT) if value is None else Cell(p_text(value), value)


def percent(value: float) -> str:
    """Format a share (0 to 1) as a percentage with one decimal, without a percent sign."""
    return f"{100 * value:.1f}"


def points(value: float) -> str:
    """Format a difference of two shares in percentage points, with a typographic minus sign and no sign at zero."""
    text = f"{100 * value:+.1f}".replace("-", "−")
    return "0.0" if text in ("+0.0", "−0.0") else text


def ranked(column: list[Cell], groups: Iterable[list[int]]) -> list[Cell]:
    """Return the cells with the best and second-best of each group marked.

    Cells with equal texts share a rank. The lowest value of a group gets no rank, so a second-best is only marked
    among three or more different values.

    Args:
        column: cells whose texts are numbers, or absent.
        groups: indices of the cells that compete with each other.
    """
    marked = list(column)
    values = pd.Series([None if cell.value is None else float(cell.text) for cell in column], dtype=float)
    for group in groups:
        ranks = values[group].rank(method="dense", ascending=False)
        for i, rank in ranks[(ranks <= 2) & (ranks < ranks.max())].items():
            marked[i] = replace(column[i], rank=int(rank))
    return marked


def escape(text: str) -> str:
    """Escape text for Markdown, so that it is shown as it is.

    White space, line ends included, becomes single spaces. An underscore inside a word needs no escape, as it is no
    markup.
    """
    text = re.sub(r"\s+", " ", text)
    return re.sub(r"([\\`*\[\]<>|~$]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9]))", r"\\\1", text)


def _pipe_table(table: Table) -> str:
    """Return the cells of a table as Markdown. The names of groups are part of the column headings."""
    lines = ["| " + " | ".join(escape(column.heading) for column in table.columns) + " |"]
    lines.append("|" + "|".join(" :--- " if column.text else " ---: " for column in table.columns) + "|")
    return "\n".join([*lines, *("| " + " | ".join(map(_cell, row)) + " |" for row in table.rows)])


def render_markdown(title: str, summary: str, sections: Iterable[Section], notes: Sequence[str] = ()) -> str:
    """Return a whole report as Markdown.

    A table with the same title as its section gets no heading of its own.

    Args:
        sections: its sections. Those without tables and text are left out.
        notes: Markdown lines that become a list before the first section.
    """
    parts = [f"# {escape(title)}", escape(summary), "\n".join(f"- {note}" for note in notes)]
    for section in sections:
        if section.tables or section.text:
            parts.append(f"## {escape(section.title)}")
            for table in section.tables:
                heading = f"### {escape(table.title)}" if table.title != section.title else ""
                parts += [heading, escape(table.text), _pipe_table(table)]
            parts.append(escape(section.text))
    return "\n\n".join(filter(None, parts)) + "\n"


def render_page(title: str, summary: str, sections: Iterable[Section]) -> str:
    """Return the same report as one self-contained HTML page, with the pictures."""
    return template("page.html").render(title=title, summary=summary, sections=sections)


def _cell(cell: Cell) -> str:
    """Return a cell as Markdown: the best of a group in bold, the second-best underlined."""
    text = ("{}", "**{}**", "<u>{}</u>")[cell.rank].format(escape(cell.text))
    return f"{text} ({escape(cell.detail)})" if cell.detail else text


def table_frame(table: Table) -> pd.DataFrame:
    """Return the values of the table as a data frame. The ends of intervals become columns of their own."""
    series = []
    for column in table.columns:
        values = {column.heading: [cell.value for cell in column.cells]}
        if any(cell.ends for cell in column.cells):
            for i, end in enumerate(("low", "high")):
                values[f"{column.heading} ({end})"] = [cell.ends and cell.ends[i] for cell in column.cells]
        series += [pd.Series(of, name=heading, dtype=object) for heading, of in values.items()]
    return pd.concat(series, axis=1)


def print_table(table: Table) -> None:
    """Print the table to the terminal. The detail of a cell stands below its text.

    If the table is wider than the terminal, or than the 80 columns of a log file, headings are broken into several
    lines, long names are cut in their middle, and intervals are left out.
    """
    console = Console(highlight=False)
    for layout in LAYOUTS:
        shown = _laid_out(table, *layout)
        if console.measure(shown, options=console.options.update(max_width=10_000)).maximum <= console.width:
            break
    if table.title:
        console.print(Text(table.title, style="italic"))
    console.print(shown)


def _laid_out(table: Table, gap: int, heading: int, longest: int, detailed: bool) -> RichTable:
    """Lay out a table for the terminal.

    Args:
        table: the table.
        gap: characters between two columns.
        heading: characters that a line of a heading may have at least.
        longest: longest word in characters. Longer ones are cut in their middle.
        detailed: whether to show the details of the cells.
    """

    def cut(text: str) -> str:
        front, back = (longest - 1) // 2, longest // 2
        return re.sub(rf"\S{{{longest + 1},}}", lambda name: f"{name[0][:front]}…{name[0][-back:]}", text)

    shown = RichTable(box=None, padding=(0, gap, 0, 0), pad_edge=False)
    for column in table.columns:
        names = [cut(name) for name in (column.group, column.name) if name]
        parts = [*" ".join(names).split(), *(cut(cell.text) for cell in column.cells)]
        width = max(heading, 1, *map(len, parts))
        lines = "\n".join(line for name in names for line in textwrap.wrap(name, width))
        shown.add_column(Text(lines), justify="left" if column.text else "right", overflow="fold")
    for row in table.rows:
        texts = [Text(cut(cell.text), style=("", "bold", "underline")[cell.rank]) for cell in row]
        for text, cell in zip(texts, row, strict=True):
            text.append("".join(f"\n{part}" for part in cell.detail.split(", ") if part and detailed), "dim")
        shown.add_row(*texts)
    return shown
