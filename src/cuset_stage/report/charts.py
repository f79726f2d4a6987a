"""Charts as data, in percent of their width: the page draws them as SVG that follows its width and its colours without a script."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from .cells import percent
from .collection import CRITERIA
from .numbers import Report
from .statistics import Rule
from .tables import named_verdicts, spread


class Mark(NamedTuple):
    """A bar from `start` to `end`, or a dot at `start`; `kind` is its class, which has the colour. In a row 30 px high."""

    kind: str
    start: float
    end: float
    y: float
    height: float
    title: str


@dataclass(frozen=True)
class Chart:
    section: str
    caption: str
    ticks: Sequence[tuple[float, str]]
    rows: Sequence[tuple[str, str, Sequence[Mark]]]  # label, what a screen reader says, marks
    legend: Sequence[tuple[str, str]]  # kind of a mark, text


def charts(report: Report) -> Iterator[Chart]:
    """All that have something to show."""
    for criterion in reversed(report.collection.criteria):
        yield pass_chart(report, criterion)
    yield verdict_chart(report)
    if any(report.collection.lines(run)["tokens"].notna().any() for run in report.collection.runs):
        yield token_chart(report)


def pass_chart(report: Report, criterion: str) -> Chart:
    """pass@k with its interval under CUDABench's rule, from 0 to the next ten points above the largest."""
    ks, labels = report.ks, [run.label for run in report.collection.runs]
    rates = {(label, k): report.rates[label, Rule.FIRST, k, criterion] for label in labels for k in ks}
    limit = min(10, max(2, math.ceil(10 * max((rate.high for rate in rates.values() if rate), default=1.0))))
    rows = []
    for label in labels:
        marks, said = [], []
        for place, k in enumerate(ks):
            if not (rate := rates[label, k]):
                said.append(f"pass@{k} unknown")
                continue
            said.append(f"pass@{k} {percent(rate.value)}% ({percent(rate.low)}–{percent(rate.high)})")
            value, low, high = (1000 * end / limit for end in (rate.value, rate.low, rate.high))
            y = 15 + min(10, 22 / len(ks)) * (place - (len(ks) - 1) / 2)
            colour = f"k{min(place, 3)}"
            marks.append(Mark(f"line {colour}", low, high, y - 1, 2, f"{label}, {said[-1]}"))
            marks.append(Mark(f"dot {colour}", value, value, y, 9, f"{label}, {said[-1]}"))
        rows.append((label, ", ".join(said), marks))
    return Chart(
        "results",
        f"{CRITERIA[criterion]}, % of tasks, first samples, with 95% intervals",
        [(100 * tick / limit, str(10 * tick)) for tick in range(0, limit + 1, 2 if limit > 5 else 1)],
        rows,
        [(f"dot k{min(place, 3)}", f"pass@{k}") for place, k in enumerate(ks)],
    )


def verdict_chart(report: Report) -> Chart:
    """How the samples of each run ended, as shares of all of them."""
    counts = {run.label: report.collection.verdicts(run) for run in report.collection.runs}
    names = named_verdicts(report.collection)
    rows = []
    for label, count in counts.items():
        marks, at, total = [], 0.0, count.total() or 1
        for verdict, text in names.items():
            if width := 100 * count[verdict] / total:
                title = f"{text}: {count[verdict]} of {total} ({width:.1f}%)"
                marks.append(Mark(f"v-{verdict}", at, at + width, 5, 20, title))
            at += width
        rows.append((label, ", ".join(f"{names[verdict]} {number}" for verdict, number in count.most_common()), marks))
    ticks = [(tick, str(tick)) for tick in (0, 25, 50, 75, 100)]
    legend = [(f"v-{verdict}", text) for verdict, text in names.items()]
    return Chart("verdicts", "Samples by verdict, %", ticks, rows, legend)


def token_chart(report: Report) -> Chart:
    """The spread of tokens a sample, on a logarithmic scale."""
    spreads = {run.label: spread(report.collection.lines(run)["tokens"]) for run in report.collection.runs}
    ends = [max(1.0, found[key]) for found in spreads.values() if found["count"] for key in ("5%", "95%")]
    steps = [m * 10.0**e for e in range(16) for m in (1, 2, 5)]
    low, high = max(step for step in steps if step <= min(ends)), min(step for step in steps if step > max(ends))

    def place(value: float) -> float:
        return min(100.0, max(0.0, 100 * math.log(max(value, 1.0) / low) / math.log(high / low)))

    rows = []
    for label, found in spreads.items():
        marks, said = [], "no counts"
        if found["count"]:
            low5, quarter, middle, most, high5, mean = (
                place(found[key]) for key in ("5%", "25%", "50%", "75%", "95%", "mean")
            )
            said = f"median {found['50%']:,.0f}, mean {found['mean']:,.0f}, half between {found['25%']:,.0f} and {found['75%']:,.0f}"
            marks.append(Mark("line k0", low5, high5, 14, 2, said))
            marks.append(Mark("half", quarter, most, 7, 16, said))
            marks.append(Mark("line k0", middle - 0.2, middle + 0.2, 7, 16, said))
            marks.append(Mark("dot mean", mean, mean, 15, 8, said))
        rows.append((label, said, marks))
    ticks = [(place(step), f"{step:,.0f}") for step in steps if low <= step <= high]
    legend = [("k0", "5% to 95%, with the median"), ("half", "half of the samples"), ("dot mean", "mean")]
    return Chart("tokens", "Tokens a sample, logarithmic scale", ticks, rows, legend)
