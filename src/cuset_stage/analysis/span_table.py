"""What `cuset spans` prints: the spans of a text, with lines and columns."""

import bisect
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from ..spans import Span


def locate(text: str, spans: list[Span]) -> list[dict[str, Any]]:
    """The spans with lines and columns, both counted from 1; the end is the last character's place."""
    starts = [0] + [index + 1 for index, character in enumerate(text) if character == "\n"]

    def place(index: int) -> tuple[int, int]:
        line = bisect.bisect_right(starts, index) - 1
        return line + 1, index - starts[line] + 1

    rows = []
    for span in spans:
        (line, column), (end_line, end_column) = place(span.start), place(span.end - 1)
        lines = {"line": line, "column": column, "end_line": end_line, "end_column": end_column}
        rows.append({**span._asdict(), **lines, "text": text[span.start : span.end]})
    return rows


def print_spans(name: str, text: str, spans: list[Span]) -> None:
    """A table of a text's spans, and how much of the text they cover."""
    console = Console()
    title = "standard input" if name == "-" else name
    if not spans:
        console.print(Text(f"{title}: no CUDA-sensitive span in {len(text):,} characters."))
        return

    table = Table(title=Text(title), title_justify="left", box=None, pad_edge=False, expand=True)
    for heading in ("kind", "from", "to", "length"):
        table.add_column(heading, justify="right" if heading == "length" else "left", no_wrap=True)
    table.add_column("first line", overflow="ellipsis", no_wrap=True, ratio=1)
    for row in locate(text, spans):
        # A body begins with a bare brace: its first line with something on it says more.
        lines = [line.strip() for line in row["text"].splitlines()]
        first = next((line for line in lines if line.strip("{} ")), lines[0])
        places = f"{row['line']}:{row['column']}", f"{row['end_line']}:{row['end_column']}"
        table.add_row(row["kind"], *places, f"{row['end'] - row['start']:,}", Text(first))
    console.print(table)
    covered = len({index for span in spans for index in range(span.start, span.end)})
    share = 100 * covered / len(text)
    console.print(Text(f"{len(spans)} spans cover {covered:,} of {len(text):,} characters ({share:.1f}%)."))
