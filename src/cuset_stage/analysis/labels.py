"""Summarise the labels of a data set before training.

The summary says how many tokens are CUDA tokens, what truncation drops, and which rows have nothing to label.
"""

import os
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import pandas as pd

from ..pages import template
from ..report.cells import Section, Table, number_column, text_column
from ..spans import KINDS, LABEL_VERSION
from ..stage.loading import LabelledRows, open_rows, open_tokenizer
from ..stage.pretrained import explained
from ..stage.token_labels import LabelRules, multiplied
from .requests import LabelSettings


EXAMPLES = 5  # number of rows that the page shows with their spans
NAMED_ROWS = 50  # maximum number of row numbers that a summary lists for each finding
TOLD_ROWS = 10  # maximum number of row numbers that `figures` lists for a finding; the page has more
SHOWN_CHARS = 12_000  # characters that the page shows of a row's responses together
FINDINGS = {
    "unusable": "Dropped by training: no assistant message, an empty one, or turns that do not alternate",
    "rows_without_cuda": "Without a CUDA token",
    "rows_truncated": "Cut at cutoff_len",
    "rows_without_response": "Nothing of the response left",
    "rows_cuda_lost": "Losing CUDA tokens",
}


@dataclass(frozen=True)
class Example:
    """A row as the page shows it.

    Attributes:
        row: number of the row, counted from 1.
        prompt: the user messages, cut to 600 characters.
        response: the responses of all turns, separated by empty lines and cut to `SHOWN_CHARS` characters.
        spans: (start, end, kind) of the spans in `response` whose kind is in the mask.
        cut_off: tokens of the responses that truncation drops.
        weights: (start, end, weight) of the weights that the data set gives. The ranges do not overlap.
    """

    row: int
    prompt: str
    response: str
    spans: list[tuple[int, int, str]]
    cut_off: int
    weights: list[tuple[int, int, float]]

    def pieces(self) -> list[tuple[str | None, float, str]]:
        """Return the response cut at every edge of a span or weight, as (kind, weight, text) of each piece.

        The kind is that of the innermost span that covers the piece, or None. The weight is 1 where the data set gives
        none.
        """
        edges = {edge for start, end, _ in (*self.spans, *self.weights) for edge in (start, end)}
        innermost_first = sorted(self.spans, key=lambda span: span[1] - span[0])
        pieces = []
        for start, end in pairwise(sorted({0, len(self.response), *edges})):
            kind = next((kind for left, right, kind in innermost_first if left <= start < right), None)
            weight = next((weight for left, right, weight in self.weights if left <= start < right), 1.0)
            pieces.append((kind, weight, self.response[start:end]))
        return pieces


def summarise(settings: LabelSettings) -> tuple[dict[str, Any], list[Example]]:
    """Label every row of the data sets as a run with these settings would.

    Returns:
        The numbers as JSON values, and rows to show on the page. Row numbers count from 1. Supervised, CUDA and lost
        tokens are tokens of responses.

    Raises:
        SettingsError: a tokenizer, a data set or a template does not exist or cannot be read.
    """
    rules = LabelRules(settings.kinds, settings.aliases, language=settings.language)
    options = {"dataset": settings.dataset, "max_samples": settings.max_samples, **settings.options()}
    tokenizer = open_tokenizer(settings.model, settings.adapter, trust_remote_code=settings.trust_remote_code)
    with explained():
        rows = open_rows(tokenizer, settings.model, rules, **options)
        table = rows.count(settings.workers or len(os.sched_getaffinity(0)))

    keys = {"model", "adapter", "dataset_dir", "template", "cutoff_len", "kinds", "aliases", "language"}
    record = {"label_version": LABEL_VERSION, **settings.model_dump(include=keys, mode="json")}
    record |= {"datasets": list(settings.dataset), **_record(table, rows.gives)}
    # Rows without CUDA tokens come first, as they need attention. Then come rows spread evenly over the data.
    spread = [len(rows) * index // EXAMPLES for index in range(EXAMPLES)]
    rows_without_cuda = [number - 1 for number in record["row_numbers"].get("rows_without_cuda", [])]
    chosen = dict.fromkeys([*rows_without_cuda[: EXAMPLES // 2], *spread])
    examples = [_example(rows, row, int(table.lost_supervised[row])) for row in list(chosen)[:EXAMPLES]]
    return record, examples


def _record(table: pd.DataFrame, gives: bool) -> dict[str, Any]:
    """Return the numbers of a summary.

    Args:
        table: one line per row, from `LabelledRows.count`.
        gives: whether the data set gives weights or spans.
    """
    usable = table[table.usable]
    findings = {
        "unusable": table.row[~table.usable],
        "rows_without_cuda": usable.row[usable.cuda == 0],
        "rows_truncated": usable.row[usable.kept < usable.tokens],
        "rows_without_response": usable.row[usable.supervised == 0],
        "rows_cuda_lost": usable.row[usable.lost_cuda > 0],
    }
    totals = {name: int(total) for name, total in usable.select_dtypes("number").sum().items()}
    weights, supervised = None, totals["supervised"]
    if gives and supervised:
        mean, share_of_0 = usable.weight.sum() / supervised, totals["without_weight"] / supervised
        weights = {"mean": float(mean), "share_of_0": float(share_of_0)}
    return {
        "rows": len(table),
        "unusable_rows": len(findings["unusable"]),
        "row_tokens": totals["tokens"],
        "longest_row": int(usable.tokens.max()) if len(usable) else 0,
        "supervised_tokens": supervised,
        "cuda_tokens": totals["cuda"],
        "cuda_share": totals["cuda"] / supervised if supervised else None,
        "weights": weights,
        "rows_without_cuda": len(findings["rows_without_cuda"]),
        "truncation": {
            "rows": len(findings["rows_truncated"]),
            "rows_without_response": len(findings["rows_without_response"]),
            "rows_losing_cuda": len(findings["rows_cuda_lost"]),
            "lost_tokens": totals["lost_supervised"],
            "lost_cuda_tokens": totals["lost_cuda"],
        },
        "spans": {k: {"spans": int(usable[k].sum()), "rows": int((usable[k] > 0).sum())} for k in KINDS},
        "row_numbers": {name: (rows[:NAMED_ROWS] + 1).tolist() for name, rows in findings.items() if len(rows)},
    }


def _example(rows: LabelledRows, row: int, cut_off: int) -> Example:
    """Return a row (counted from 0) as the page shows it."""
    prompts, responses = rows.texts(row)
    rules = rows.processor.rules
    given = rows.given(row)
    text, spans, weight_ranges = "", [], []
    for number, response in enumerate(responses):
        start = len(text) + 2 * bool(text)
        text = text.ljust(start, "\n") + response[: max(0, SHOWN_CHARS - start)]
        spans += [(start + span.start, start + span.end, span.kind) for span in rules.find_spans(text[start:])]
        response_weight, given_spans = given.responses[number] if given.responses else (1.0, ())
        weight_ranges.append((start, len(text), given.weight * response_weight))
        for span in given_spans:
            left, right = (min(start + edge, len(text)) for edge in (span.start, span.end))
            spans += [(left, right, span.kind)] if span.kind in rules.kinds and left < right else []
            weight_ranges += [(left, right, span.weight)] if span.weight is not None else []
    weights = multiplied([layer for layer in weight_ranges if layer[0] < layer[1]])
    return Example(row + 1, "\n\n".join(prompts)[:600], text, spans, cut_off, weights)


def figures(record: dict[str, Any]) -> list[tuple[str, str]]:
    """Return the main numbers as (name, text) pairs, for the page and the terminal."""
    share, cut, usable = record["cuda_share"], record["truncation"], record["rows"] - record["unusable_rows"]
    of_supervised = "" if share is None else f" ({share:.1%} of the supervised)"

    def numbered(finding: str) -> str:
        rows = record["row_numbers"].get(finding, [])
        more = " ..." if len(rows) > TOLD_ROWS else ""
        return f" (row{'s' * (len(rows) > 1)} {', '.join(map(str, rows[:TOLD_ROWS]))}{more})" if rows else ""

    weights = record["weights"]
    weight_text = f"{weights['mean']:.3g} on average, 0 for {weights['share_of_0']:.1%} of them" if weights else None
    return [
        ("rows", f"{record['rows']:,}"),
        ("rows that training drops", f"{record['unusable_rows']:,}{numbered('unusable')}"),
        ("rows without CUDA", f"{record['rows_without_cuda']:,} of {usable:,}{numbered('rows_without_cuda')}"),
        ("supervised tokens", f"{record['supervised_tokens']:,}"),
        ("CUDA tokens", f"{record['cuda_tokens']:,}{of_supervised}"),
        *([("weight of a supervised token", weight_text)] if weight_text else []),
        ("longest row", f"{record['longest_row']:,} tokens"),
        (f"rows cut at {record['cutoff_len']:,} tokens", f"{cut['rows']:,}"),
        ("response tokens lost to that", f"{cut['lost_tokens']:,}, of them CUDA {cut['lost_cuda_tokens']:,}"),
        ("rows left without a response", f"{cut['rows_without_response']:,}"),
    ]


def render(record: dict[str, Any], examples: list[Example]) -> str:
    """Return one self-contained HTML page, without scripts."""
    names, values = zip(*figures(record), strict=True)
    spans = record["spans"].items()
    tables = [
        Table("figures", "In numbers", [text_column("", names), text_column("", values)]),
        Table(
            "spans",
            "Spans by kind",
            [
                text_column("kind", [kind + " (in the mask)" * (kind in record["kinds"]) for kind, _ in spans]),
                number_column("spans", [of["spans"] for _, of in spans]),
                number_column("rows with one", [of["rows"] for _, of in spans]),
            ],
        ),
    ]
    if numbered := record["row_numbers"]:
        listed = [", ".join(map(str, rows)) + " ..." * (len(rows) == NAMED_ROWS) for rows in numbered.values()]
        columns = [text_column("", [FINDINGS[name] for name in numbered]), text_column("rows", listed)]
        tables.append(Table("findings", "Rows to look at", columns))
    return template("analysis/label_page.html").render(
        title=f"Labels of {', '.join(record['datasets'])}",
        summary=f"tokenizer of {record['model']}, template {record['template']}, kinds {', '.join(record['kinds'])}, labels version "
        f"{record['label_version']}",
        sections=[Section(table.key, table.title, [table]) for table in tables],
        record=record,
        examples=examples,
    )
