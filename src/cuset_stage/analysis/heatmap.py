"""Make one self-contained HTML page of samples, with every token shaded by its confidence before and after training.

The layout is in heatmap.html beside this file. The page needs no script: the numbers of a token are in its tooltip.
"""

import textwrap
from dataclasses import asdict
from html import escape
from typing import Any

from markupsafe import Markup

from ..pages import template
from ..report.cells import ABSENT, Cell, Column, Table, text_column
from .confidence import Sample
from .requests import HeatmapSettings


STEPS = 10  # steps of the colour scale: the classes c0 to c9 in heatmap.html
COLUMNS = {
    "tokens": ("tokens", "{:,}"),
    "cuda_share": ("CUDA", "{:.1%}"),
    "nll": ("nll (nats)", "{:.2f}"),
    "cuda_confidence": ("conf. CUDA", "{:.4f}"),
    "other_confidence": ("conf. other", "{:.4f}"),
    "left_out": ("left out", "{:.1%}"),
    "region_confidence": ("least window", "{:.4f}"),
    "sample_weight": ("weight", "{:.4f}"),
}


def numbers(samples: list[Sample], settings: HeatmapSettings) -> dict[str, Any]:
    """Return the numbers of the page as JSON values: settings, and each sample with its readings and summaries."""
    compared = settings.compared if "before" in samples[0].readings else None
    trained = str(settings.adapter or settings.model).rstrip("/").split("/")[-2:]
    keys = {"model", "adapter", "quantization_bit", "template", "cutoff_len", "window", "tau", "lam", "kinds"}
    shown = settings.model_dump(include=keys, mode="json")
    return {
        "title": f"Token confidence of {'/'.join(trained)}" + ", before and after training" * bool(compared),
        "settings": shown | {"before": compared, "dataset": ",".join(settings.dataset)},
        "samples": [
            asdict(sample)
            | {"summary": {name: sample.summary(name, settings.tau, settings.lam) for name in sample.readings}}
            for sample in samples
        ],
    }


def summary_table(samples: list[Sample], settings: HeatmapSettings) -> Table:
    """Return a table with one row of summary numbers per sample and reading."""
    rows = [(sample, name) for sample in samples for name in sample.readings]
    summaries = [sample.summary(name, settings.tau, settings.lam) for sample, name in rows]
    columns = [text_column("sample", [sample.source.replace(", row", "") for sample, _ in rows])]
    columns.append(text_column("", [name for _, name in rows]))
    for key, (title, form) in COLUMNS.items():
        values = [summary[key] for summary in summaries]
        columns.append(Column(title, [Cell(ABSENT if value is None else form.format(value)) for value in values]))
    return Table("samples", "", columns)


def render(samples: list[Sample], settings: HeatmapSettings) -> str:
    """Return the HTML page. The readings of a sample stand side by side, or below each other on a narrow screen."""
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
    )


def _sample(sample: Sample, settings: HeatmapSettings) -> dict[str, Any]:
    """Return the values of a sample that the template needs."""
    first_sentence = sample.asked.strip("# \n").partition("\n")[0].partition(". ")[0]
    return {
        "heading": textwrap.shorten(first_sentence, 110, placeholder=" ..."),
        "source": sample.source,
        "first": sample.first,
        "prompt": "".join(sample.texts[: sample.first]),
        "numbers": Table("numbers", "In numbers", summary_table([sample], settings).columns[1:]),
        "panels": {name: Markup(tokens_html(sample, name, settings)) for name in sample.readings},
    }


def tokens_html(sample: Sample, name: str, settings: HeatmapSettings) -> str:
    """Return the tokens of the response as HTML, for the reading `name`.

    Each token is an `<i>` element, and the least confident windows are wrapped in `<mark>`. The classes of a token are
    c0 to c9 (the colour scale) or n (not supervised), and g (CUDA), out (weight 0) and byte (no text of its own).
    """
    reading = sample.readings[name]
    weights = sample.weights(name, settings.tau, settings.lam)
    # An answer that is not longer than the window is itself the window. A box around all of it would say nothing.
    padded_means = [None, *reading.window, None]
    boxes = [
        region
        for region in reading.regions
        if (padded_means[region.start], padded_means[region.end + 1]) != (None, None)
    ]
    opens, closes = {region.start: region for region in boxes}, {region.end for region in boxes}
    parts = []
    column = 0  # where the next token begins in its line
    for position in range(sample.first, len(sample.texts)):
        if position in opens:
            region = opens[position]
            label = f"least confident window: C {region.confidence:.4f}, weight {region.weight:.4f}"
            parts.append(f'</span><mark style="--column:{column}" data-label="{label}">')
        confidence, text = reading.confidence[position], sample.texts[position]
        if confidence is None:
            classes, tooltip = ["n"], "not supervised"
        else:
            classes = [f"c{min(int(confidence * STEPS), STEPS - 1)}"]
            tooltip = f"c {confidence:.3g}, window {reading.window[position]:.3g}, M {weights[position]:g}"
        marks = {"g": sample.cuda[position], "out": weights[position] == 0, "byte": not text}
        classes += [mark for mark, is_on in marks.items() if is_on]
        parts.append(f'<i class="{" ".join(classes)}" title="{tooltip}">{visible(text)}</i>')
        column = (column + len(text) if "\n" not in text else len(text) - 1 - text.rindex("\n")) % 80
        if position + 1 in closes:
            parts.append(f'</mark><span class="rest" style="--column:{column}">')
    return f'<span class="rest" style="--column:0">{"".join(parts)}</span>'


def visible(text: str) -> str:
    """Return the text escaped for HTML, with faint marks for line ends and tabs.

    These get a mark because they are tokens with a confidence of their own.
    """
    # An HTML parser would turn \r into \n and drop \0, so they are replaced by their control pictures.
    text = escape(text.replace("\r\n", "\n"), quote=True).replace("\r", "␍").replace("\0", "␀")
    return text.replace("\n", '<b class="nl"></b>\n').replace("\t", '<b class="tab"></b>\t')
