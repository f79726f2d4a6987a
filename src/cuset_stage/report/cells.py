"""Tables as data: a cell's text, its value and the filter behind it; and how numbers are written."""

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
    ends: tuple[float, float] | None = (
        None  # of the interval that `detail` shows; CSV has them in columns of their own
    )
    rank: int = 0
    shade: float | None = None  # 0 to 1
    link: Mapping[str, str] = field(default_factory=dict)  # the filter of samples behind the number


@dataclass(frozen=True)
class Column:
    name: str
    group: str = ""
    text: bool = False  # left-aligned


@dataclass(frozen=True)
class Table:
    key: str
    title: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[Cell]]
    text: str = ""


def counted(count: int, noun: str) -> str:
    """ "1 run", "2 runs"."""
    return f"{count} {noun}{'' if count == 1 else 's'}"


def percent(value: float) -> str:
    return f"{100 * value:.1f}"


def label(text: str, **link: str) -> Cell:
    return Cell(text, text, link=link)


def number(value: float | None, digits: int = 0) -> Cell:
    return Cell(ABSENT) if value is None else Cell(f"{value:,.{digits}f}", round(value, 6))


def seconds(value: float | None) -> Cell:
    if value is None:
        return Cell(ABSENT)
    return Cell(f"{value:.2f}" if value < 100 else f"{value:,.0f}", round(value, 6))


def estimate_cell(estimate: Estimate | None, reason: str = "") -> Cell:
    """A percentage with its interval; how many tasks it is over when some are left out."""
    if estimate is None or estimate.value is None:
        return Cell(ABSENT, detail=reason)
    detail = f"{percent(estimate.low)}–{percent(estimate.high)}"
    if estimate.left_out:
        detail += f", n = {estimate.tasks}"
    return Cell(percent(estimate.value), round(100 * estimate.value, 4), detail)


def ranked(column: list[Cell], groups: list[list[int]], *, lowest: bool = False) -> list[Cell]:
    """The cells with the best of each group marked, and the second-best of three or more; equal texts share a rank."""
    marked = list(column)
    for group in groups:
        shown = sorted(
            {float(column[i].text.replace(",", "")) for i in group if column[i].value is not None}, reverse=not lowest
        )
        for i in group:
            if column[i].value is None or len(group) < 2 or len(shown) < 2:
                continue
            place = shown.index(float(column[i].text.replace(",", ""))) + 1
            if place == 1 or (place == 2 and len(group) > 2 and len(shown) > 2):
                marked[i] = replace(column[i], rank=place)
    return marked


def p_text(value: float) -> str:
    return (
        "<0.0001"
        if value < 0.0001
        else f"{value:.4f}"
        if value < 0.01
        else f"{value:.3f}"
        if value < 0.1
        else f"{value:.2f}"
    )


def signed(share: float) -> str:
    """Percentage points with a sign; a true minus, and no sign at zero."""
    text = f"{100 * share:+.1f}".replace("-", "−")
    return "0.0" if text in ("+0.0", "−0.0") else text
