"""One self-contained HTML page: samples with every token shaded by its confidence, before and after training.

heatmap.html beside this file has the layout; it loads nothing and works without its script, which only adds the numbers of the token
under the pointer.
"""

from functools import cache
from html import escape
from typing import Any

import jinja2
from markupsafe import Markup

from .page_data import Page, Reading, Region, Sample, summary


STEPS = 10  # of the colour scale, classes c0 to c9 in heatmap.html
POINTS = 400  # more than this many points of a curve cannot be seen
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


@cache
def template(name: str) -> jinja2.Template:
    """A page of this folder. Everything it is given is escaped, except Markup."""
    loader = jinja2.PackageLoader("cuset_stage.analysis", ".")
    environment = jinja2.Environment(loader=loader, autoescape=True, trim_blocks=True, lstrip_blocks=True)
    environment.policies["json.dumps_kwargs"] = {"separators": (",", ":")}
    return environment.get_template(name)


def render(page: Page) -> str:
    """The page as HTML. A sample's readings are shown side by side, on a narrow screen one at a time."""
    return template("heatmap.html").render(
        page=page,
        steps=range(STEPS),
        names=list(dict.fromkeys(name for sample in page.samples for name in sample.readings)),
        samples=[_sample(sample, page.settings["tau"]) for sample in page.samples],
        settings=", ".join(
            f"{key} {','.join(value) if isinstance(value, (list, tuple)) else value}"
            for key, value in page.settings.items()
            if value is not None
        ),
        data=[_data(sample) for sample in page.samples],
    )


def _sample(sample: Sample, tau: float) -> dict[str, Any]:
    """What the template shows of a sample."""
    first = first_response_token(sample)
    prompt = "".join(sample.texts[:first])
    return {
        "heading": _heading(prompt),
        "source": sample.source,
        "first": first,
        "prompt": prompt,
        "numbers": _numbers(sample, tau),
        "chart": _chart(sample, first),
        "panels": {name: Markup(tokens_html(sample, reading, first)) for name, reading in sample.readings.items()},
    }


def first_response_token(sample: Sample) -> int:
    """The index of the first supervised token: what stands before it is prompt."""
    return sample.supervised.index(True)


def _heading(prompt: str) -> str:
    """The user's first sentence, without the chat markers around it."""
    text = prompt.split("<|im_start|>user\n")[-1]
    line = next((line.strip("# ") for line in text.splitlines() if line.strip()), "")
    line = line.partition(". ")[0]
    return line if len(line) <= 110 else line[:107].rsplit(" ", 1)[0] + " …"


def _numbers(sample: Sample, tau: float) -> list[tuple[str, dict[str, str]]]:
    """Titles with each reading's value, or with one value where no reading can differ."""
    values = {name: summary(sample, name, tau) for name in sample.readings}
    entries = []
    for key, (title, form) in COLUMNS.items():
        if key == "left_out" and not tau:
            continue  # with a threshold of 0 nothing is
        shown = {name: "–" if each[key] is None else form.format(each[key]) for name, each in values.items()}
        if key in ("tokens", "cuda_share"):
            shown = dict(list(shown.items())[-1:])
        entries.append((title, shown))
    return entries


def tokens_html(sample: Sample, reading: Reading, first: int) -> str:
    """The tokens from `first` on as `<i>` elements, one each, the least confident windows wrapped in `<mark>`."""
    opens = {region.start: region for region in reading.regions}
    closes = {region.end for region in reading.regions}
    parts = []
    column = 0  # of the next token in its line
    for position in range(first, len(sample.texts)):
        if position in opens:
            region = opens[position]
            label = f"least confident window: C {region.confidence:.4f}, weight {region.weight:.4f}"
            parts.append(f'</span><mark style="--column:{column}" data-label="{label}">')
        confidence = reading.confidence[position]
        classes = ["n" if confidence is None else f"c{min(int(confidence * STEPS), STEPS - 1)}"]
        if sample.cuda[position]:
            classes.append("g")
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


def _data(sample: Sample) -> dict[str, Any]:
    """What the script reads: the numbers of the shown tokens, rounded."""
    first = first_response_token(sample)

    def rounded(values: list[float | None]) -> list[float | None]:
        return [None if value is None else float(f"{value:.3g}") for value in values[first:]]

    return {
        "first": first,
        "names": list(sample.readings),
        "cuda": [int(cuda) for cuda in sample.cuda[first:]],
        "c": [rounded(reading.confidence) for reading in sample.readings.values()],
        "w": [rounded(reading.window) for reading in sample.readings.values()],
    }


def _chart(sample: Sample, first: int) -> dict[str, Any]:
    """C_t of every reading over the tokens from `first` on: CUDA runs, curves and their minima.

    Lines and areas are an SVG of height 1 that stretches with the page; what must keep its shape is placed over it in percent.
    """
    length = len(sample.texts) - first
    highest = max((w for r in sample.readings.values() for w in r.window if w is not None), default=0.0)
    top = next(
        limit for limit in (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1.0) if highest <= limit * 1.0001
    )
    readings = {}
    for name, reading in sample.readings.items():
        paths = [" ".join(f"{x:g},{1 - c / top:.4f}" for x, c in points) for points in curves(reading, first)]
        dots = [
            (100 * (minimum(reading, r) - first + 0.5) / length, 100 * (1 - r.confidence / top))
            for r in reading.regions
        ]
        readings[name] = {"paths": paths, "dots": dots, "least": min(region.confidence for region in reading.regions)}
    runs = [(start - first, end - start) for start, end in cuda_runs(sample)]
    return {"length": length, "top": top, "runs": runs, "readings": readings}


def cuda_runs(sample: Sample) -> list[tuple[int, int]]:
    """The runs [start, end) of CUDA tokens."""
    runs: list[list[int]] = []
    for position, cuda in enumerate(sample.cuda):
        if cuda and runs and runs[-1][1] == position:
            runs[-1][1] += 1
        elif cuda:
            runs.append([position, position + 1])
    return [(start, end) for start, end in runs]


def curves(reading: Reading, first: int) -> list[list[tuple[float, float]]]:
    """The points (x, C_t) of each stretch of supervised tokens, thinned out; the lowest point of each step is the one kept.

    Keeping the lowest, not every n-th, lets the curve go through the marked minimum.
    """
    stretches: list[list[tuple[float, float]]] = []
    previous = None
    for position, value in enumerate(reading.window):
        if value is None:
            continue
        if previous != position - 1:
            stretches.append([])
        stretches[-1].append((position - first + 0.5, value))
        previous = position
    thinned = []
    for points in stretches:
        step = max(1, -(-len(points) // POINTS))
        thinned.append([min(points[i : i + step], key=lambda point: point[1]) for i in range(0, len(points), step)])
    return thinned


def minimum(reading: Reading, region: Region) -> int:
    """Where in its least confident window a sample's C_t is reached first; a short sample is one window throughout."""
    values = [(position, reading.window[position]) for position in range(region.start, region.end)]
    return min((abs(c - region.confidence), position) for position, c in values if c is not None)[1]
