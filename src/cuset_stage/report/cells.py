"""Tables as data: columns of cells, each with a text, a value and the filter behind it; how numbers are written; reports of them as
Markdown, CSV, a page, and in the terminal."""

import base64
import itertools
import re
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pandas as pd
from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from ..pages import template
from .statistics import Estimate


ABSENT = "–"
LAYOUTS = (  # gap, heading, longest and detailed of `_laid_out`, the widest first
    *((2, 40, 40, True), (2, 12, 40, True), (1, 0, 24, True)),
    *((2, 12, 24, False), (1, 0, 24, False), (1, 0, 12, False)),
)


@dataclass(frozen=True)
class Cell:
    """`text` is shown, `value` is what CSV holds; rank 1 is the best of its group, 2 the second."""

    text: str
    value: Any = None
    detail: str = ""
    ends: tuple[float, float] | None = None  # of the interval that `detail` shows, for CSV
    rank: int = 0
    shade: float | None = None  # 0 to 1
    bar: tuple[float, float, float] | None = None  # low, value, high, each 0 to 1: drawn below the text
    link: Mapping[str, str] = field(default_factory=dict)  # the filter of samples behind the number


@dataclass(frozen=True)
class Column:
    name: str
    cells: Sequence[Cell]
    group: str = ""
    text: bool = False  # left-aligned

    @property
    def heading(self) -> str:
        """The name with its group's, where groups have no row of their own."""
        return f"{self.group}: {self.name}" if self.group else self.name


@dataclass(frozen=True)
class Table:
    key: str
    title: str
    columns: Sequence[Column]
    text: str = ""

    @property
    def rows(self) -> list[tuple[Cell, ...]]:
        return list(zip(*(column.cells for column in self.columns), strict=True))

    @property
    def groups(self) -> list[tuple[str, int]]:
        """The group of neighbouring columns, and how many these are."""
        runs = itertools.groupby(self.columns, key=lambda column: column.group)
        return [(group, len(list(columns))) for group, columns in runs]


@dataclass(frozen=True)
class Section:
    """A part of a report. `text` stands below its tables; pictures: what each shows -> PNG, on the page alone."""

    key: str
    title: str
    tables: Sequence[Table] = ()
    text: str = ""
    pictures: Mapping[str, bytes] = field(default_factory=dict)


def text_column(name: str, texts: Iterable[str], group: str = "") -> Column:
    return Column(name, [label(text) for text in texts], group, text=True)


def number_column(name: str, values: Iterable[float | None], group: str = "", digits: int = 0) -> Column:
    return Column(name, [number(value, digits) for value in values], group)


def label(text: str, **link: str) -> Cell:
    return Cell(text, text, link=link)


def number(value: float | None, digits: int = 0) -> Cell:
    """Absent for None and NaN."""
    return Cell(ABSENT) if pd.isna(value) else Cell(f"{value:,.{digits}f}", round(value, 6))


def share(value: float | None, **link: str) -> Cell:
    """A percentage on a shaded ground."""
    return Cell(ABSENT) if pd.isna(value) else Cell(percent(value), round(100 * value, 4), shade=value, link=link)


def estimate_cell(estimate: Estimate | None, reason: str = "", *, signed: bool = False) -> Cell:
    """A percentage, or a difference of two, with its interval; how many tasks it is over when some are left out."""
    if estimate is None:
        return Cell(ABSENT, detail=reason)
    cell = interval_cell(vars(estimate), points if signed else percent, 100)
    if signed:
        return cell
    detail = cell.detail + (f", n = {estimate.tasks}" if estimate.left_out else "")
    return replace(cell, detail=detail, bar=(estimate.low, estimate.value, estimate.high))


def interval_cell(of: Mapping[str, float | None] | None, write: Callable[[float], str], scale: float = 1) -> Cell:
    """A value of a record with `low` and `high`, if it has them. scale: of the values that CSV holds."""
    if of is None or of.get("value") is None:
        return Cell(ABSENT)
    value, *ends = (None if of[key] is None else round(scale * of[key], 6) for key in ("value", "low", "high"))
    if None in ends:
        return Cell(write(of["value"]), value)
    return Cell(write(of["value"]), value, f"{write(of['low'])} to {write(of['high'])}", tuple(ends))


def decimal(value: float) -> str:
    """Three decimals from 0.1 on, below it two digits that count: an untrained model's confidence would be 0 with three decimals."""
    if value == 0:
        return "0"
    return f"{value:.3f}" if abs(value) >= 0.0995 else f"{value:#.2g}"


def p_text(value: float) -> str:
    if value < 0.0001:
        return "<0.0001"
    return f"{value:.{4 if value < 0.01 else 3 if value < 0.1 else 2}f}"


def p_cell(value: float | None) -> Cell:
    return Cell(ABSENT) if value is None else Cell(p_text(value), value)


def percent(value: float) -> str:
    return f"{100 * value:.1f}"


def points(value: float) -> str:
    """A difference of two shares in percentage points, with a true minus, and no sign at zero."""
    text = f"{100 * value:+.1f}".replace("-", "−")
    return "0.0" if text in ("+0.0", "−0.0") else text


def ranked(column: list[Cell], groups: Iterable[list[int]]) -> list[Cell]:
    """The cells with the highest of each group marked, and the second of three or more; equal texts share a rank."""
    marked = list(column)
    for group in groups:
        known = [i for i in group if column[i].value is not None]
        places = sorted({float(column[i].text) for i in known}, reverse=True)
        for i in known:
            rank = 1 + places.index(float(column[i].text))
            if rank < len(places) and rank <= 2:
                marked[i] = replace(column[i], rank=rank)
    return marked


def escape(text: str) -> str:
    """Text of a table cell or a sentence, shown as it is. An underscore inside a word is no markup."""
    text = re.sub(r"\s+", " ", text)
    return re.sub(r"([\\`*\[\]<>|~$]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9]))", r"\\\1", text)


def render_table(table: Table, *, titled: bool = True) -> str:
    """A heading, the table's sentence, and a pipe table whose group names stand in the column names."""
    lines = ["| " + " | ".join(escape(column.heading) for column in table.columns) + " |"]
    lines.append("|" + "|".join(" :--- " if column.text else " ---: " for column in table.columns) + "|")
    lines += ["| " + " | ".join(map(_cell, row)) + " |" for row in table.rows]
    parts = [f"### {escape(table.title)}" if titled else "", escape(table.text), "\n".join(lines)]
    return "\n\n".join(part for part in parts if part)


def render_markdown(title: str, summary: str, sections: Iterable[Section], notes: Sequence[str] = ()) -> str:
    """A whole report. A table that is called as its section has no heading of its own. notes: lines of a list before the first."""
    parts = [f"# {escape(title)}", escape(summary), "\n".join(f"- {note}" for note in notes)]
    for section in sections:
        if section.tables or section.text:
            parts.append(f"## {escape(section.title)}")
            parts += [render_table(table, titled=table.title != section.title) for table in section.tables]
            parts.append(escape(section.text))
    return "\n\n".join(filter(None, parts)) + "\n"


def render_page(title: str, summary: str, sections: Iterable[Section]) -> str:
    """The same as one HTML page that loads nothing, with the pictures."""
    encoded = (
        replace(section, pictures={name: base64.b64encode(png).decode() for name, png in section.pictures.items()})
        for section in sections
    )
    return template("page.html").render(title=title, summary=summary, sections=encoded)


def _cell(cell: Cell) -> str:
    text = ("{}", "**{}**", "<u>{}</u>")[cell.rank].format(escape(cell.text))
    return f"{text} ({escape(cell.detail)})" if cell.detail else text


def table_frame(table: Table) -> pd.DataFrame:
    """The table's values; the ends of an interval in columns of their own."""
    columns = []
    for column in table.columns:
        values = {column.heading: [cell.value for cell in column.cells]}
        if any(cell.ends for cell in column.cells):
            for i, end in enumerate(("low", "high")):
                values[f"{column.heading} ({end})"] = [cell.ends and cell.ends[i] for cell in column.cells]
        columns += [pd.Series(of, name=heading, dtype=object) for heading, of in values.items()]
    return pd.concat(columns, axis=1)


def print_table(table: Table) -> None:
    """The table in the terminal; what explains a number stands below it.

    Where it is wider than the terminal, or than the 80 columns of a log file, headings take several lines, long names are cut in their middle
    and intervals left out.
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
    """In characters, gap: between two columns; heading: what a line of a heading may have; longest: of a name. detailed: with what explains
    a number."""

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
