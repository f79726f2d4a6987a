"""Charts as rows of inline SVG in percent coordinates: they follow the page's width and its colours without a script."""

import math
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from .collection import CRITERIA
from .numbers import Report
from .statistics import Rule
from .tables import VERDICTS, spread


@dataclass(frozen=True)
class Chart:
    """`rows` are (label, SVG); `legend` is (class of the mark, text)."""

    caption: str
    rows: Sequence[tuple[str, Markup]]
    axis: Markup
    legend: Sequence[tuple[str, str]]


def charts(report: Report) -> dict[str, list[Chart]]:
    """Section -> its charts."""
    passed = [pass_chart(report, criterion) for criterion in reversed(report.collection.criteria)]
    tokens = token_chart(report)
    return defaultdict(list, results=passed, verdicts=[verdict_chart(report)], tokens=[tokens] if tokens else [])


def pass_chart(report: Report, criterion: str) -> Chart:
    """pass@k with its interval under CUDABench's rule, from 0 to the next ten points above the largest."""
    estimates = {
        run.label: [report.rates[run.label, Rule.FIRST, k, criterion] for k in report.ks]
        for run in report.collection.runs
    }
    largest = max((e.high for found in estimates.values() for e in found if e), default=1.0)
    limit = min(1.0, max(0.2, math.ceil(10 * largest) / 10))

    def x(value: float) -> str:
        return f"{100 * value / limit:.2f}%"

    step = 2 if limit > 0.5 else 1
    ticks = [tenths / 10 for tenths in range(0, round(10 * limit) + 1, step)]
    rows = []
    for label, found in estimates.items():
        marks, said = [_grid(x, ticks)], []
        for place, (k, e) in enumerate(zip(report.ks, found, strict=True)):
            if e is None:
                said.append(f"pass@{k} unknown")
                continue
            said.append(f"pass@{k} {100 * e.value:.1f}% ({100 * e.low:.1f}–{100 * e.high:.1f})")
            y = f"{15 + min(10, 22 / len(report.ks)) * (place - (len(report.ks) - 1) / 2):.1f}"
            whisker = tag("line", class_="whisker", x1=x(e.low), x2=x(e.high), y1=y, y2=y)
            dot = tag("circle", cx=x(e.value), cy=y, r=4.5)
            marks.append(tag("g", tag("title", f"{label}, {said[-1]}"), whisker, dot, class_=f"k{min(place, 3)}"))
        rows.append(_row(label, ", ".join(said), marks))
    caption = f"{CRITERIA[criterion]}, % of tasks, first samples, with 95% intervals"
    legend = [(f"dot k{min(place, 3)}", f"pass@{k}") for place, k in enumerate(report.ks)]
    return Chart(caption, rows, _axis(x, [(tick, f"{100 * tick:.0f}") for tick in ticks]), legend)


def verdict_chart(report: Report) -> Chart:
    """How the samples of each run ended, as shares of all of them."""
    counts = {run.label: report.collection.verdicts(run) for run in report.collection.runs}
    found = {verdict for count in counts.values() for verdict in count}
    names = {verdict: text for verdict, text in VERDICTS.items() if verdict in found}
    names |= {verdict: verdict for verdict in sorted(found - names.keys())}
    rows = []
    for label, count in counts.items():
        marks, at = [], 0.0
        for verdict, text in names.items():
            width = 100 * count[verdict] / (count.total() or 1)
            title = tag("title", f"{text}: {count[verdict]} of {count.total()} ({width:.1f}%)")
            if width:
                place = {"x": f"{at:.3f}%", "width": f"{width:.3f}%", "y": 5, "height": 20}
                marks.append(tag("rect", title, class_=f"v-{verdict}", **place))
            at += width
        rows.append(_row(label, ", ".join(f"{names[verdict]} {n}" for verdict, n in count.most_common()), marks))
    axis = _axis(lambda value: f"{value}%", [(tick, str(tick)) for tick in (0, 25, 50, 75, 100)])
    legend = [(f"square v-{verdict}", text) for verdict, text in names.items()]
    return Chart("Samples by verdict, %", rows, axis, legend)


def token_chart(report: Report) -> Chart | None:
    """The spread of tokens a sample, on a logarithmic scale. None without counts."""
    spreads = {run.label: spread(report.collection.lines(run)["tokens"]) for run in report.collection.runs}
    ends = [max(1.0, found[key]) for found in spreads.values() if found["count"] for key in ("5%", "95%")]
    if not ends:
        return None
    steps = [m * 10.0**e for e in range(16) for m in (1, 2, 5)]
    low, high = max(step for step in steps if step <= min(ends)), min(step for step in steps if step > max(ends))

    def place(value: float) -> float:
        return min(100.0, max(0.0, 100 * math.log(max(value, 1.0) / low) / math.log(high / low)))

    def x(value: float) -> str:
        return f"{place(value):.2f}%"

    ticks = [step for step in steps if low <= step <= high]
    rows = []
    for label, s in spreads.items():
        marks, said = [_grid(x, ticks)], "no counts"
        if s["count"]:
            said = f"median {s['50%']:,.0f}, mean {s['mean']:,.0f}, half between {s['25%']:,.0f} and {s['75%']:,.0f}"
            width = f"{place(s['75%']) - place(s['25%']):.2f}%"
            shapes = (
                tag("line", class_="whisker", x1=x(s["5%"]), x2=x(s["95%"]), y1=15, y2=15),
                tag("rect", x=x(s["25%"]), width=width, y=7, height=16, rx=2),
                tag("line", class_="median", x1=x(s["50%"]), x2=x(s["50%"]), y1=7, y2=23),
                tag("circle", cx=x(s["mean"]), cy=15, r=3.5),
            )
            marks.append(tag("g", tag("title", f"{label}: {said}"), *shapes, class_="box"))
        rows.append(_row(label, said, marks))
    return Chart(
        "Tokens a sample, logarithmic scale",
        rows,
        _axis(x, [(tick, f"{tick:,.0f}") for tick in ticks]),
        [("line", "5% to 95%"), ("area", "half of the samples"), ("bar", "median"), ("dot mean", "mean")],
    )


def tag(name: str, *children: str, **attributes: object) -> Markup:
    """An element; text and attributes are escaped. class_ is class."""
    given = Markup(" ").join(Markup('{}="{}"').format(key.rstrip("_"), value) for key, value in attributes.items())
    return Markup("<{} {}>{}</{}>").format(name, given, Markup("").join(children), name)


def _row(label: str, said: str, marks: Sequence[Markup]) -> tuple[str, Markup]:
    return label, tag("svg", *marks, role="img", **{"aria-label": f"{label}: {said}"}, width="100%", height=30)


def _grid(x: Callable[[float], str], ticks: Sequence[float]) -> Markup:
    return Markup("").join(tag("line", class_="grid", x1=x(tick), x2=x(tick), y1=0, y2=30) for tick in ticks)


def _axis(x: Callable[[float], str], ticks: Sequence[tuple[float, str]]) -> Markup:
    marks = [tag("text", text, x=x(tick), y=14, **{"text-anchor": "middle"}) for tick, text in ticks]
    return tag("svg", *marks, class_="axis", width="100%", height=18, **{"aria-hidden": "true"})
