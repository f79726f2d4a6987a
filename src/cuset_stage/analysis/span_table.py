"""The output of `cuset spans`: the spans of a text, with lines and columns."""

import re
from bisect import bisect_right
from typing import Any

from ..report.cells import Table, number_column, print_table, text_column
from ..spans import Span
from ..text import one_line


def locate(text: str, spans: list[Span]) -> list[dict[str, Any]]:
    """Return the spans with lines, columns and text.

    Lines and columns count from 1. `end_line` and `end_column` are the place of the last character.
    """
    starts = [0, *(match.end() for match in re.finditer("\n", text))]

    def place(index: int) -> tuple[int, int]:
        line = bisect_right(starts, index)
        return line, index - starts[line - 1] + 1

    rows = []
    for span in spans:
        (line, column), (end_line, end_column) = place(span.start), place(span.end - 1)
        lines = {"line": line, "column": column, "end_line": end_line, "end_column": end_column}
        rows.append({**span._asdict(), **lines, "text": text[span.start : span.end]})
    return rows


def print_spans(name: str, text: str, spans: list[Span]) -> None:
    """Print a table of a text's spans, and how much of the text they cover."""
    title = "standard input" if name == "-" else name
    if not spans:
        print(f"{title}: no CUDA-sensitive span in {len(text):,} characters.")
        return
    rows, first_lines = locate(text, spans), []
    for row in rows:
        # The first line of a body is a bare brace, so the first line with more on it is shown.
        lines = [line.strip() for line in row["text"].splitlines()]
        first_lines.append(next((line for line in lines if line.strip("{} ")), lines[0]))
    columns = [
        text_column("kind", [row["kind"] for row in rows]),
        text_column("from", [f"{row['line']}:{row['column']}" for row in rows]),
        text_column("to", [f"{row['end_line']}:{row['end_column']}" for row in rows]),
        number_column("length", [row["end"] - row["start"] for row in rows]),
        text_column("first line", [one_line(first, 40) for first in first_lines]),
    ]
    print_table(Table("spans", title, columns))
    covered = len({index for span in spans for index in range(span.start, span.end)})
    print(f"{len(spans)} spans cover {covered:,} of {len(text):,} characters ({100 * covered / len(text):.1f}%).")
