"""One self-contained HTML page: samples with every token shaded by its confidence, before and after training.

Standard library only. Colours, layout and script are in page.html beside this file; the page loads nothing and works without its
script, which only adds the numbers of the token under the pointer.
"""

import json
from html import escape
from importlib import resources
from typing import Any

from .chart import chart
from .page_data import Page, Reading, Sample, summary


_STEPS = 10  # of the colour scale, classes c0 to c9 in page.html

_COLUMNS = (
    ("tokens", "tokens"),
    ("cuda_share", "CUDA"),
    ("nll", "nll (nats)"),
    ("cuda_confidence", "confidence, CUDA"),
    ("other_confidence", "confidence, other"),
    ("left_out", "left out"),
    ("region_confidence", "least confident window"),
    ("sample_weight", "sample weight"),
)


def render(page: Page) -> str:
    """The page as HTML. A sample's readings are shown side by side, on a narrow screen one at a time."""
    names = list(dict.fromkeys(name for sample in page.samples for name in sample.readings))
    body = [_header(page)]
    body.append("<main>")
    if len(names) > 1:
        body.append(_switch(names))
    body += [_sample(page, index) for index in range(len(page.samples))]
    settings = ", ".join(f"{key} {_value(value)}" for key, value in page.settings.items() if value is not None)
    body.append(f"</main>\n<footer>{escape(settings)}</footer>")
    template = resources.files(__package__).joinpath("page.html").read_text(encoding="utf-8")
    # Not str.format: the template is CSS and JavaScript. Split first, so that no sample's text is taken for a placeholder.
    head, rest = template.split("{{title}}")
    middle, rest = rest.split("{{body}}")
    before_data, tail = rest.split("{{data}}")
    return "".join((head, escape(page.title), middle, "\n".join(body), before_data, _data(page.samples), tail))


def _value(value: Any) -> str:
    return ",".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)


def _header(page: Page) -> str:
    swatches = "".join(f'<i class="c{step}"></i>' for step in range(_STEPS))
    window, tau = page.settings["window"], page.settings["tau"]
    left_out = f'<span class="soft">left out: not CUDA and c ≤ τ = {tau:g}, so not trained on</span>' if tau else ""
    return (
        f"<header><h1>{escape(page.title)}</h1>\n"
        "<p>Each token of the response is shaded by its confidence c, the probability the model gives it; the darker the orange, the "
        "less sure the model. CuSeT gives tokens inside CUDA spans extra weight, and trains a sample the more, the less confident its "
        "least confident window is.</p>\n"
        f'<div class="legend"><span class="scale">c = 0 <span aria-hidden="true">{swatches}</span> 1</span>'
        '<span><span class="key-cuda">inside a CUDA span</span></span>'
        f'<span><span class="key-window">least confident window ({window} tokens)</span></span>'
        f"{left_out}</div></header>"
    )


def _switch(names: list[str]) -> str:
    buttons = "".join(
        f'<label><input type="radio" name="pick" id="pick-{escape(name)}"{" checked" * (name == names[-1])}> {escape(name)}</label>'
        for name in names
    )
    return f'<div class="pick">{buttons}</div>'


def _sample(page: Page, index: int) -> str:
    sample = page.samples[index]
    first = first_response_token(sample)
    last = len(sample.texts)
    prompt = "".join(sample.texts[:first])
    panels = "".join(
        f'<section class="panel {escape(name)}"><h3>{escape(name)}</h3><pre tabindex="0" data-s="{index}" '
        f'aria-label="Response, {escape(name)}">{tokens_html(sample, reading, first, last)}</pre></section>'
        for name, reading in sample.readings.items()
    )
    heading = _heading(prompt)
    return (
        f'<article class="sample"><h2>Sample {index + 1}: {escape(heading)}</h2><div class="source">{escape(sample.source)}</div>\n'
        f"{_numbers(sample, page.settings['tau'])}\n{chart(sample, first)}\n"
        f"<details><summary>Prompt ({first} tokens, not trained on)</summary><pre>{escape(prompt)}</pre></details>\n"
        f'<div class="panels{" two" * (len(sample.readings) == 2)}">{panels}</div></article>'
    )


def first_response_token(sample: Sample) -> int:
    """The index of the first supervised token: what stands before it is prompt."""
    return sample.supervised.index(True)


def _heading(prompt: str) -> str:
    """The user's first sentence, without the chat markers around it."""
    text = prompt.split("<|im_start|>user\n")[-1]
    line = next((line.strip("# ") for line in text.splitlines() if line.strip()), "")
    line = line.partition(". ")[0]
    return line if len(line) <= 110 else line[:107].rsplit(" ", 1)[0] + " …"


def _numbers(sample: Sample, tau: float) -> str:
    """A list of name and value; a value that differs between the readings is shown as `before → after`."""
    values = {name: summary(sample, name, tau) for name in sample.readings}
    entries = []
    for key, title in _COLUMNS:
        if key == "left_out" and not tau:
            continue  # with a threshold of 0 nothing is
        shown = {name: _number(key, numbers[key]) for name, numbers in values.items()}
        if len(set(shown.values())) == 1 and key in ("tokens", "cuda_share"):
            shown = dict(list(shown.items())[-1:])
        text = " → ".join(f'<span class="{escape(name)}">{value}</span>' for name, value in shown.items())
        entries.append(f"<div><dt>{escape(title)}</dt><dd>{text}</dd></div>")
    return f"<dl>{''.join(entries)}</dl>"


def _number(key: str, value: float | None) -> str:
    if value is None:
        return "–"
    if key == "tokens":
        return f"{value:,}"
    if key in ("cuda_share", "left_out"):
        return f"{100 * value:.1f}%"
    return f"{value:.2f}" if key == "nll" else f"{value:.4f}"


def tokens_html(sample: Sample, reading: Reading, first: int, last: int) -> str:
    """The tokens [first, last) as `<i>` elements, one each, the least confident windows wrapped in `<mark>`."""
    opens = {region.start: region for region in reading.regions}
    closes = {region.end for region in reading.regions}
    parts = []
    column = 0  # of the next token in its line
    for position in range(first, last):
        if position in opens:
            region = opens[position]
            label = f"least confident window: C {region.confidence:.4f}, weight {region.weight:.4f}"
            parts.append(f'</span><mark style="--column:{column}" data-label="{label}">')
        confidence = reading.confidence[position]
        classes = ["n" if confidence is None else f"c{min(int(confidence * _STEPS), _STEPS - 1)}"]
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


def _data(samples: list[Sample]) -> str:
    """What the script reads: the numbers of the shown tokens, rounded; `<` is written so that nothing ends the script element."""

    def rounded(values: list[float | None]) -> list[float | None]:
        return [None if value is None else float(f"{value:.3g}") for value in values]

    data = []
    for sample in samples:
        first = first_response_token(sample)
        data.append(
            {
                "first": first,
                "names": list(sample.readings),
                "cuda": [int(cuda) for cuda in sample.cuda[first:]],
                "c": [rounded(reading.confidence[first:]) for reading in sample.readings.values()],
                "w": [rounded(reading.window[first:]) for reading in sample.readings.values()],
            }
        )
    return json.dumps(data, separators=(",", ":")).replace("<", "\\u003c")
