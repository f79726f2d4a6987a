"""Charts as rows of inline SVG in percent coordinates: they follow the page's width and its colours without a script."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from . import numbers
from .build import Report
from .collection import CRITERIA
from .statistics import Rule
from .tables import VERDICTS


@dataclass(frozen=True)
class Chart:
    """`rows` are (label, SVG); `legend` is (class of the mark, text)."""

    key: str
    caption: str
    rows: Sequence[tuple[str, Markup]]
    axis: Markup
    legend: Sequence[tuple[str, str]]


def pass_charts(report: Report) -> list[Chart]:
    """pass@k with its interval, a chart a criterion, under CUDABench's rule."""
    return [_pass_chart(report, criterion) for criterion in reversed(report.collection.criteria)]


def _pass_chart(report: Report, criterion: str) -> Chart:
    drawn = {
        run.label: [
            (place, rate.estimate)
            for place, k in enumerate(report.ks)
            if (rate := report.rates[run.label, Rule.FIRST, k, criterion]).estimate and rate.estimate.value is not None
        ]
        for run in report.collection.runs
    }
    ends = [end for marks in drawn.values() for _, e in marks for end in (e.low, e.high)]
    low, high = _limits(min(ends, default=0.0), max(ends, default=1.0))

    def x(value: float) -> str:
        return f"{100 * (value - low) / (high - low):.2f}%"

    ticks = _ticks(low, high)
    rows = []
    for run in report.collection.runs:
        parts = [_grid(x, ticks)]
        for place, e in drawn[run.label]:
            y = f"{_offset(place, len(report.ks)):.1f}"
            title = (
                f"{run.label}, pass@{report.ks[place]}: {100 * e.value:.1f}% ({100 * e.low:.1f}–{100 * e.high:.1f})"
            )
            parts.append(
                Markup(
                    '<g class="k{}"><title>{}</title><line class="whisker" x1="{}" x2="{}" y1="{}" y2="{}"/>'
                    '<circle cx="{}" cy="{}" r="4.5"/></g>'
                ).format(min(place, 3), title, x(e.low), x(e.high), y, y, x(e.value), y)
            )
        rows.append((run.label, _svg(f"{run.label}: " + _spoken(report, run.label, criterion), parts)))
    return Chart(
        f"pass-{criterion}",
        f"{CRITERIA[criterion]}, % of tasks, first samples, with 95% intervals",
        rows,
        _axis(x, [(tick, f"{100 * tick:.0f}") for tick in ticks]),
        [(f"dot k{min(place, 3)}", f"pass@{k}") for place, k in enumerate(report.ks)],
    )


def _spoken(report: Report, label: str, criterion: str) -> str:
    parts = []
    for k in report.ks:
        e = report.rates[label, Rule.FIRST, k, criterion].estimate
        parts.append(f"pass@{k} {100 * e.value:.1f}%" if e and e.value is not None else f"pass@{k} unknown")
    return ", ".join(parts)


def verdict_chart(report: Report) -> Chart:
    """How the samples of each run ended, as shares of all of them."""
    rows, shown = [], []
    for run in report.collection.runs:
        counts = numbers.verdict_counts(report.collection, run)
        total = sum(counts.values()) or 1
        parts, at = [], 0.0
        for verdict in [*VERDICTS, *sorted(set(counts) - set(VERDICTS))]:
            if counts[verdict]:
                width = 100 * counts[verdict] / total
                title = f"{VERDICTS.get(verdict, verdict)}: {counts[verdict]} of {total} ({width:.1f}%)"
                parts.append(
                    Markup(
                        '<rect class="v-{}" x="{:.3f}%" width="{:.3f}%" y="5" height="20"><title>{}</title></rect>'
                    ).format(verdict, at, width, title)
                )
                at += width
                shown.append(verdict)
        spoken = ", ".join(f"{VERDICTS.get(v, v)} {c}" for v, c in counts.most_common())
        rows.append((run.label, _svg(f"{run.label}: {spoken}", parts)))
    ticks = [0, 0.25, 0.5, 0.75, 1.0]
    return Chart(
        "verdicts",
        "Samples by verdict, %",
        rows,
        _axis(lambda value: f"{100 * value:.2f}%", [(tick, f"{100 * tick:.0f}") for tick in ticks]),
        [(f"square v-{verdict}", text) for verdict, text in VERDICTS.items() if verdict in shown],
    )


def token_chart(report: Report) -> Chart | None:
    """The spread of tokens a sample; on a logarithmic scale when it covers more than a factor of 30. None without counts."""
    spreads = {run.label: numbers.tokens(report.collection, run).spread for run in report.collection.runs}
    known = [found for found in spreads.values() if found]
    if not known:
        return None
    smallest, largest = max(1.0, min(s.p5 for s in known)), max(1.0, max(s.p95 for s in known))
    logarithmic = largest > 30 * smallest
    scale: Callable[[float], float] = (lambda value: math.log10(max(value, 1.0))) if logarithmic else float
    if logarithmic:
        ticks = [m * 10.0**e for e in range(7) for m in (1, 2, 5) if smallest / 2.5 <= m * 10.0**e <= largest * 2.5]
        low, high = scale(ticks[0]), scale(ticks[-1])
    else:
        ticks = _ticks(0.0, largest * 1.04, 8)
        low, high = 0.0, largest * 1.04

    def x(value: float) -> str:
        return f"{min(100.0, max(0.0, 100 * (scale(value) - low) / (high - low))):.2f}%"

    def width(a: float, b: float) -> str:
        return f"{max(0.0, float(x(b)[:-1]) - float(x(a)[:-1])):.2f}%"

    rows = []
    for label, s in spreads.items():
        parts = [_grid(x, ticks)]
        text = "no counts"
        if s:
            text = f"median {s.median:,.0f}, mean {s.mean:,.0f}, half between {s.p25:,.0f} and {s.p75:,.0f}"
            parts.append(
                Markup(
                    '<g class="box"><title>{}</title><line class="whisker" x1="{}" x2="{}" y1="15" y2="15"/>'
                    '<rect x="{}" width="{}" y="7" height="16" rx="2"/><line class="median" x1="{}" x2="{}" y1="7" y2="23"/>'
                    '<circle cx="{}" cy="15" r="3.5"/></g>'
                ).format(
                    *(f"{label}: {text}", x(s.p5), x(s.p95), x(s.p25), width(s.p25, s.p75)),
                    *(x(s.median), x(s.median), x(s.mean)),
                )
            )
        rows.append((label, _svg(f"{label}: {text}", parts)))
    return Chart(
        "tokens",
        "Tokens a sample" + (", logarithmic scale" if logarithmic else ""),
        rows,
        _axis(x, [(tick, f"{tick:,.0f}") for tick in ticks]),
        [("line", "5% to 95%"), ("area", "half of the samples"), ("bar", "median"), ("dot mean", "mean")],
    )


def _svg(spoken: str, parts: Sequence[Markup]) -> Markup:
    return Markup('<svg role="img" aria-label="{}" width="100%" height="30">{}</svg>').format(
        spoken, Markup("").join(parts)
    )


def _grid(x: Callable[[float], str], ticks: Sequence[float]) -> Markup:
    return Markup("").join(
        Markup('<line class="grid" x1="{}" x2="{}" y1="0" y2="30"/>').format(x(tick), x(tick)) for tick in ticks
    )


def _axis(x: Callable[[float], str], ticks: Sequence[tuple[float, str]]) -> Markup:
    marks = Markup("").join(
        Markup('<text x="{}" y="12" text-anchor="middle">{}</text>').format(x(at), text) for at, text in ticks
    )
    return Markup('<svg aria-hidden="true" class="axis" width="100%" height="16">{}</svg>').format(marks)


def _offset(place: int, count: int) -> float:
    """Vertical place of one of `count` marks in a row 30 high."""
    return 15.0 + (place - (count - 1) / 2) * min(10.0, 22.0 / max(1, count))


def _limits(smallest: float, largest: float) -> tuple[float, float]:
    """Round limits around the intervals, at least 20 points apart, inside 0 to 1."""
    low, high = math.floor(smallest * 20 - 0.2) / 20, math.ceil(largest * 20 + 0.2) / 20
    if high - low < 0.2:
        middle = (low + high) / 2
        low, high = middle - 0.1, middle + 0.1
    if high > 1:
        low, high = max(0.0, low - (high - 1)) if high - low <= 0.2 else low, 1.0
    if low < 0:
        low, high = 0.0, min(1.0, max(high, 0.2))
    return low, high


def _ticks(low: float, high: float, at_most: int = 7) -> list[float]:
    """Round values inside the limits."""
    raw = (high - low) / at_most
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(m * power for m in (1, 2, 5, 10) if m * power >= raw * 0.999)
    first = math.ceil(low / step - 1e-9)
    return [index * step for index in range(first, math.floor(high / step + 1e-9) + 1)]
