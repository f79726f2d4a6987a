"""The labels of a data set as one self-contained HTML page, and as a few lines for the terminal. Standard library, and rich."""

from __future__ import annotations

from html import escape
from itertools import pairwise
from typing import Any

from .labels import Example, LabelSummary


_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 70rem; padding: 0 1rem; color: #222; background: #fff; }
h1 { font-size: 1.4rem; } h2 { font-size: 1.1rem; margin-top: 2rem; }
table { border-collapse: collapse; } td, th { padding: .2rem .8rem .2rem 0; text-align: left; }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; }
.bar { display: inline-block; height: .8rem; background: #c66a1c; vertical-align: middle; }
pre { white-space: pre-wrap; overflow-wrap: anywhere; background: #f6f6f4; padding: .8rem; font-size: 12.5px; line-height: 1.45; }
mark { background: #ffd9b0; color: inherit; } mark.launch_config { background: #cfe6ff; }
.soft { color: #666; } details { margin: .6rem 0; } summary { cursor: pointer; }
@media (prefers-color-scheme: dark) {
  body { background: #1b1b1b; color: #ddd; } pre { background: #262626; } mark { background: #6b3d0f; }
  mark.launch_config { background: #1d4468; } .soft { color: #999; }
}
"""


def render(summary: LabelSummary) -> str:
    """The page. Nothing is loaded from anywhere, and no script runs."""
    record = summary.as_json()
    title = f"Labels of {', '.join(record['datasets'])}"
    parts = [
        f"<h1>{escape(title)}</h1>",
        f'<p class="soft">{escape(_settings(record))}</p>',
        _numbers(figures(record)),
        "<h2>Spans by kind</h2>",
        _kinds(record),
        "<h2>Length of rows in tokens</h2>",
        _histogram([(_range(each), each["rows"]) for each in record["length_histogram"]]),
        "<h2>Share of CUDA in the response</h2>",
        _histogram(
            [(f"{each['from']:.0%} to {each['to']:.0%}", each["rows"]) for each in record["cuda_share_histogram"]]
        ),
        _rows_named(record["row_numbers"]),
        "<h2>Rows</h2>",
        *(_example(example) for example in summary.examples),
    ]
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta name="viewport" content="width=device-width"><title>{escape(title)}</title><style>{_STYLE}</style></head>\n'
        f"<body>\n{chr(10).join(parts)}\n</body></html>\n"
    )


def figures(record: dict[str, Any]) -> list[tuple[str, str]]:
    """The main numbers with their names, as the page and the terminal show them."""
    share = record["cuda_share"]
    cut = record["truncation"]
    usable = record["rows"] - record["unusable_rows"]
    return [
        ("rows", f"{record['rows']:,}"),
        ("rows that training leaves out", f"{record['unusable_rows']:,}"),
        ("rows without CUDA", f"{record['rows_without_cuda']:,} of {usable:,}"),
        ("supervised tokens", f"{record['supervised_tokens']:,}"),
        (
            "CUDA tokens",
            f"{record['cuda_tokens']:,}" + ("" if share is None else f" ({share:.1%} of the supervised)"),
        ),
        ("longest row", f"{record['longest_row']:,} tokens"),
        (f"rows cut at {record['cutoff_len']:,} tokens", f"{cut['rows']:,}"),
        ("response tokens lost to that", f"{cut['lost_tokens']:,}, of them CUDA {cut['lost_cuda_tokens']:,}"),
        ("rows left without a response", f"{cut['rows_without_response']:,}"),
    ]


def _settings(record: dict[str, Any]) -> str:
    return f"tokenizer of {record['model']}, template {record['template']}, kinds {', '.join(record['kinds'])}, labels version {record['label_version']}"


def _numbers(rows: list[tuple[str, str]]) -> str:
    return (
        "<table>"
        + "".join(f'<tr><td>{escape(name)}</td><td class="n">{value}</td></tr>' for name, value in rows)
        + "</table>"
    )


def _kinds(record: dict[str, Any]) -> str:
    chosen = set(record["kinds"])
    rows = "".join(
        f"<tr><td>{kind}{' (in the mask)' if kind in chosen else ''}</td>"
        f'<td class="n">{each["spans"]:,}</td><td class="n">{each["rows"]:,}</td></tr>'
        for kind, each in record["spans"].items()
    )
    return f'<table><tr><th>kind</th><th class="n">spans</th><th class="n">rows with one</th></tr>{rows}</table>'


def _range(each: dict[str, Any]) -> str:
    return f"{each['from']:,} to {each['to'] - 1:,}" if each["to"] else f"{each['from']:,} and more"


def _histogram(bins: list[tuple[str, int]]) -> str:
    most = max((rows for _, rows in bins), default=0) or 1
    lines = "".join(
        f'<tr><td>{label}</td><td class="n">{rows:,}</td><td><span class="bar" style="width:{24 * rows / most:.2f}rem"></span></td></tr>'
        for label, rows in bins
    )
    return f"<table>{lines}</table>"


_FINDINGS = {
    "unusable": "Left out by training: no assistant message, or an empty one",
    "rows_without_cuda": "Without a CUDA token",
    "rows_truncated": "Cut at cutoff_len",
    "rows_without_response": "Nothing of the response left",
    "rows_cuda_lost": "Losing CUDA tokens",
}


def _rows_named(named: dict[str, list[int]]) -> str:
    items = [
        f"<details><summary>{text}</summary><p>{', '.join(map(str, named[key]))}{' ...' if len(named[key]) == 50 else ''}</p></details>"
        for key, text in _FINDINGS.items()
        if named.get(key)
    ]
    return "<h2>Rows to look at</h2>" + "".join(items) if items else ""


def _example(example: Example) -> str:
    cut = f", cutoff_len takes {example.cut_off:,} tokens" if example.cut_off else ""
    return (
        f"<details open><summary>row {example.row}: {len(example.spans)} spans{cut}</summary>"
        f'<p class="soft">{escape(example.prompt)}</p><pre>{_marked(example)}</pre></details>'
    )


def _marked(example: Example) -> str:
    """The response with every chosen span marked; an inner span (a launch in a kernel) ends and resumes the outer one."""
    text = example.response
    cuts = sorted({0, len(text), *(edge for start, end, _ in example.spans for edge in (start, end))})
    parts = []
    for start, end in pairwise(cuts):
        covering = [span for span in example.spans if span[0] <= start and end <= span[1]]
        piece = escape(text[start:end])
        kind = min(covering, key=lambda span: span[1] - span[0])[2] if covering else None
        parts.append(piece if kind is None else f'<mark class="{kind}" title="{kind}">{piece}</mark>')
    return "".join(parts)
