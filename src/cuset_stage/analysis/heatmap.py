"""One self-contained HTML page: samples with every token shaded by its confidence, before and after training.

heatmap.html beside this file has the layout; it loads nothing and works without its script, which only adds the numbers of the token
under the pointer.
"""

from dataclasses import asdict
from html import escape
from itertools import groupby
from typing import Any

from markupsafe import Markup

from ..pages import template
from ..report.cells import Cell, Column, Table, print_table, text_column
from ..text import one_line
from .confidence import Sample
from .requests import HeatmapSettings


CHART_TOPS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1.0)  # of the axis of confidence
STEPS = 10  # of the colour scale, classes c0 to c9 in heatmap.html
COLUMNS = {
    "tokens": ("tokens", "{:,}"),
    "cuda_share": ("CUDA", "{:.1%}"),
    "nll": ("nll (nats)", "{:.2f}"),
    "cuda_confidence": ("confidence, CUDA", "{:.4f}"),
    "other_confidence": ("confidence, other", "{:.4f}"),
    "left_out": ("left out", "{:.1%}"),
    "region_confidence": ("least confident window", "{:.4f}"),
    "sample_weight": ("sample weight", "{:.4f}"),
}


def numbers(samples: list[Sample], settings: HeatmapSettings) -> dict[str, Any]:
    """The page's numbers as JSON values: settings, and for each sample its tokens, readings and summaries."""
    compared = settings.compared if "before" in samples[0].readings else None
    trained = str(settings.adapter or settings.model).rstrip("/").split("/")[-2:]
    keys = {"model", "adapter", "quantization_bit", "template", "cutoff_len", "window", "tau", "lam", "kinds"}
    shown = settings.model_dump(include=keys, mode="json")
    return {
        "title": f"Token confidence of {'/'.join(trained)}" + ", before and after training" * bool(compared),
        "settings": shown | {"before": compared, "dataset": ",".join(settings.dataset)},
        "samples": [asdict(sample) | {"summary": _summaries(sample, settings)} for sample in samples],
    }


def _summaries(sample: Sample, settings: HeatmapSettings) -> dict[str, dict[str, float | None]]:
    """The summary of each reading, by its name."""
    return {name: sample.summary(name, settings.tau, settings.lam) for name in sample.readings}


def render(samples: list[Sample], settings: HeatmapSettings) -> str:
    """The page as HTML. A sample's readings are shown side by side, on a narrow screen below each other."""
    page, trained = numbers(samples, settings), settings.trained_mask()
    shown = {key: value for key, value in page["settings"].items() if value is not None}
    texts = (f"{key} {','.join(value) if isinstance(value, list) else value}" for key, value in shown.items())
    return template("analysis/heatmap.html").render(
        title=page["title"],
        mask=settings,
        trained=trained,
        is_trained_mask=bool(trained) and settings == settings.checked(settings.model_dump() | trained),
        steps=range(STEPS),
        samples=[_sample(sample, settings) for sample in samples],
        settings=", ".join(texts),
        data=[_data(sample, settings) for sample in samples],
    )


def _sample(sample: Sample, settings: HeatmapSettings) -> dict[str, Any]:
    """What the template shows of a sample."""
    first_sentence = sample.asked.strip("# \n").partition("\n")[0].partition(". ")[0]
    return {
        "heading": one_line(first_sentence, 110),
        "source": sample.source,
        "first": sample.first,
        "prompt": "".join(sample.texts[: sample.first]),
        "numbers": _numbers(sample, settings),
        "chart": _chart(sample),
        "panels": {name: Markup(tokens_html(sample, name, settings)) for name in sample.readings},
    }


def _numbers(sample: Sample, settings: HeatmapSettings) -> list[tuple[str, dict[str, str]]]:
    """Titles with each reading's value, or with one value where no reading can differ."""
    summaries = _summaries(sample, settings)
    entries = []
    for key, (title, form) in COLUMNS.items():
        if key == "left_out" and not settings.tau:
            continue  # with a threshold of 0 nothing is
        values = {name: summary[key] for name, summary in summaries.items()}
        shown = {name: "–" if value is None else form.format(value) for name, value in values.items()}
        if key in ("tokens", "cuda_share"):
            shown = dict(list(shown.items())[-1:])
        entries.append((title, shown))
    return entries


def tokens_html(sample: Sample, name: str, settings: HeatmapSettings) -> str:
    """The response's tokens for the reading `name` as `<i>` elements, one each, the least confident windows wrapped in `<mark>`.

    Classes: c0 to c9 of the colour scale, or n (not supervised); g (CUDA), out (weight 0), byte (no text of its own).
    """
    reading = sample.readings[name]
    weights = sample.weights(name, settings.tau, settings.lam)
    # An answer that is no longer than the window is one window: a box around all of it would say nothing.
    turns = runs([value is not None for value in reading.window])
    boxes = [region for region in reading.regions if (region.start, region.end) not in turns]
    opens, closes = {region.start: region for region in boxes}, {region.end for region in boxes}
    parts = []
    column = 0  # of the next token in its line
    for position in range(sample.first, len(sample.texts)):
        if position in opens:
            region = opens[position]
            label = f"least confident window: C {region.confidence:.4f}, weight {region.weight:.4f}"
            parts.append(f'</span><mark style="--column:{column}" data-label="{label}">')
        confidence = reading.confidence[position]
        classes = ["n" if confidence is None else f"c{min(int(confidence * STEPS), STEPS - 1)}"]
        if sample.cuda[position]:
            classes.append("g")
        if weights[position] == 0:
            classes.append("out")
        text = sample.texts[position]
        if not text:
            classes.append("byte")
        parts.append(f'<i class="{" ".join(classes)}">{visible(text)}</i>')
        column = (column + len(text) if "\n" not in text else len(text) - 1 - text.rindex("\n")) % 80
        if position + 1 in closes:
            parts.append(f'</mark><span class="rest" style="--column:{column}">')
    return f'<span class="rest" style="--column:0">{"".join(parts)}</span>'


def visible(text: str) -> str:
    """Escaped text; line ends and tabs get a faint mark, because they are tokens with a confidence of their own."""
    # A parser would turn \r into \n and drop \0, so they are shown as their control pictures.
    text = escape(text.replace("\r\n", "\n"), quote=True).replace("\r", "␍").replace("\0", "␀")
    return text.replace("\n", '<b class="nl"></b>\n').replace("\t", '<b class="tab"></b>\t')


def _data(sample: Sample, settings: HeatmapSettings) -> dict[str, Any]:
    """What the script reads: the numbers of the shown tokens, rounded."""

    def rounded(values: list[float | None]) -> list[float | None]:
        return [None if value is None else float(f"{value:.3g}") for value in values[sample.first :]]

    return {
        "names": list(sample.readings),
        "cuda": [int(cuda) for cuda in sample.cuda[sample.first :]],
        "c": [rounded(reading.confidence) for reading in sample.readings.values()],
        "w": [rounded(reading.window) for reading in sample.readings.values()],
        "m": [rounded(sample.weights(name, settings.tau, settings.lam)) for name in sample.readings],
    }


def _chart(sample: Sample) -> dict[str, Any]:
    """C_t of every reading over the response's tokens: CUDA runs, a curve for each turn, and the curves' minima.

    Lines and areas are an SVG of height 1 that stretches with the page; what must keep its shape is placed over it in percent.
    """
    first, length = sample.first, len(sample.texts) - sample.first
    highest = max((w for r in sample.readings.values() for w in r.window if w is not None), default=0.0)
    top = next(limit for limit in CHART_TOPS if highest <= limit * 1.0001)
    readings = {}
    for name, reading in sample.readings.items():
        paths, dots = [], []
        for turn in runs([value is not None for value in reading.window]):
            points = (f"{t - first + 0.5:g},{1 - reading.window[t] / top:.4f}" for t in range(*turn))
            paths.append(" ".join(points))
        for region in reading.regions:  # a short sample is one window throughout: the first place where C_t is least
            lowest = min(range(region.start, region.end), key=lambda t: abs(reading.window[t] - region.confidence))
            dots.append((100 * (lowest - first + 0.5) / length, 100 * (1 - region.confidence / top)))
        readings[name] = {"paths": paths, "dots": dots, "least": min(region.confidence for region in reading.regions)}
    spans = [(start - first, end - start) for start, end in runs(sample.cuda)]
    return {"length": length, "top": top, "runs": spans, "readings": readings}


def runs(values: list[bool]) -> list[tuple[int, int]]:
    """The runs [start, end) of what is true."""
    groups = [list(group) for is_on, group in groupby(range(len(values)), key=values.__getitem__) if is_on]
    return [(group[0], group[-1] + 1) for group in groups]


def print_summary(samples: list[Sample], settings: HeatmapSettings) -> None:
    """The numbers of every sample and reading, on the terminal."""
    rows = [(sample, name) for sample in samples for name in sample.readings]
    columns = [text_column("sample", [sample.source.replace(", row", "") for sample, _ in rows])]
    columns.append(text_column("", [name for _, name in rows]))
    by_row = [dict(_numbers(sample, settings)) for sample, _ in rows]
    for title in by_row[0]:
        cells = [Cell(values[title].get(name, "")) for values, (_, name) in zip(by_row, rows, strict=True)]
        columns.append(Column(title, cells))
    print_table(Table("samples", "", columns))
