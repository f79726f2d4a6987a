"""Tables as data: a cell's text, its value and the filter behind it; and how numbers are written."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from .statistics import Estimate


ABSENT = "–"


@dataclass(frozen=True)
class Cell:
    """`text` is shown, `value` is what CSV holds; rank 1 is the best of its group, 2 the second."""

    text: str
    value: Any = None
    detail: str = ""
    ends: tuple[float, float] | None = None  # of the interval that `detail` shows, for CSV
    rank: int = 0
    shade: float | None = None  # 0 to 1
    link: Mapping[str, str] = field(default_factory=dict)  # the filter of samples behind the number


@dataclass(frozen=True)
class Column:
    name: str
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
    rows: Sequence[Sequence[Cell]]
    text: str = ""


def text_columns(*names: str) -> list[Column]:
    return [Column(name, text=True) for name in names]


def label(text: str, **link: str) -> Cell:
    return Cell(text, text, link=link)


def number(value: float | None, digits: int = 0) -> Cell:
    """Absent for None and NaN."""
    known = value is not None and not math.isnan(value)
    return Cell(f"{value:,.{digits}f}", round(value, 6)) if known else Cell(ABSENT)


def share(value: float | None, **link: str) -> Cell:
    """A percentage on a shaded ground."""
    known = value is not None and not math.isnan(value)
    return Cell(percent(value), round(100 * value, 4), shade=value, link=link) if known else Cell(ABSENT)


def estimate_cell(estimate: Estimate | None, reason: str = "") -> Cell:
    """A percentage with its interval; how many tasks it is over when some are left out."""
    if estimate is None:
        return Cell(ABSENT, detail=reason)
    detail = f"{percent(estimate.low)}–{percent(estimate.high)}"
    if estimate.left_out:
        detail += f", n = {estimate.tasks}"
    return Cell(percent(estimate.value), round(100 * estimate.value, 4), detail)


def difference_cell(estimate: Estimate | None) -> Cell:
    """Percentage points with a sign, and their interval."""
    if estimate is None:
        return Cell(ABSENT)
    value, low, high = estimate.value, estimate.low, estimate.high
    ends = (round(100 * low, 4), round(100 * high, 4))
    return Cell(_signed(value), round(100 * value, 4), f"{_signed(low)} to {_signed(high)}", ends)


def p_cell(value: float) -> Cell:
    return Cell(p_text(value), value)


def p_text(value: float) -> str:
    if value < 0.0001:
        return "<0.0001"
    return f"{value:.{4 if value < 0.01 else 3 if value < 0.1 else 2}f}"


def percent(value: float) -> str:
    return f"{100 * value:.1f}"


def _signed(value: float) -> str:
    """A true minus, and no sign at zero."""
    text = f"{100 * value:+.1f}".replace("-", "−")
    return "0.0" if text in ("+0.0", "−0.0") else text


def ranked(column: list[Cell], groups: list[list[int]]) -> list[Cell]:
    """The cells with the highest of each group marked, and the second of three or more; equal texts share a rank."""
    marked = list(column)
    for group in groups:
        values = [float(column[i].text) for i in group if column[i].value is not None]
        places = sorted(set(values), reverse=True)
        for i in group:
            if column[i].value is not None and len(places) > 1:
                rank = 1 + places.index(float(column[i].text))
                if rank == 1 or (rank == 2 and len(places) > 2):
                    marked[i] = replace(column[i], rank=rank)
    return marked
