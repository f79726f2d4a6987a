"""What the `cuset` command prints: tables and findings (rich)."""

import bisect
from typing import Any

from rich.console import Console
from rich.table import Column, Table
from rich.text import Text

from ..spans import Span
from .doctor import Finding
from .page_data import Page, summary


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

    table = Table(
        Column("kind", no_wrap=True),
        Column("from", no_wrap=True),
        Column("to", no_wrap=True),
        Column("length", justify="right", no_wrap=True),
        Column("first line", overflow="ellipsis", no_wrap=True),
        title=Text(title),
        title_justify="left",
        box=None,
        pad_edge=False,
    )
    for row in locate(text, spans):
        # A body begins with a bare brace: its first line with something on it says more.
        lines = [line.strip() for line in row["text"].splitlines()]
        first = next((line for line in lines if line.strip("{} ")), lines[0])
        table.add_row(
            row["kind"],
            f"{row['line']}:{row['column']}",
            f"{row['end_line']}:{row['end_column']}",
            f"{row['end'] - row['start']:,}",
            Text(first),
        )
    console.print(table)
    covered = len({index for span in spans for index in range(span.start, span.end)})
    share = 100 * covered / len(text)
    console.print(Text(f"{len(spans)} spans cover {covered:,} of {len(text):,} characters ({share:.1f}%)."))


def print_summary(page: Page) -> None:
    """The numbers of every sample and reading."""
    table = Table(box=None, pad_edge=False, collapse_padding=True)
    table.add_column("sample", overflow="fold")
    for title in ("", "tokens", "CUDA", "nll", "c, CUDA", "c, other", "window", "weight"):
        table.add_column(title, justify="right", no_wrap=True)
    for sample in page.samples:
        for name in sample.readings:
            numbers = summary(sample, name, page.settings["tau"])
            cells = (numbers["cuda_confidence"], numbers["other_confidence"], numbers["region_confidence"])
            table.add_row(
                Text(sample.source.replace(", row", "")),
                name,
                f"{numbers['tokens']:,}",
                f"{100 * numbers['cuda_share']:.1f}%",
                f"{numbers['nll']:.2f}",
                *("–" if value is None else f"{value:.4f}" for value in cells),
                f"{numbers['sample_weight']:.4f}",
            )
    Console().print(table)


def print_findings(findings: list[Finding]) -> None:
    """The doctor's findings, each with its fix."""
    console = Console()
    marks = {"ok": ("ok  ", "green"), "note": ("note", "yellow"), "fail": ("FAIL", "bold red")}
    for finding in findings:
        mark, style = marks[finding.state]
        console.print(
            Text.assemble((mark, style), "  ", (finding.subject, "bold"), "  ", finding.result), soft_wrap=True
        )
        if finding.fix:
            console.print(Text(f"      {finding.fix}"), soft_wrap=True)
    failed = sum(finding.state == "fail" for finding in findings)
    verdict = f"stage: cuset does not work here: {failed} to put right." if failed else "stage: cuset works here."
    console.print(Text(verdict, style="bold red" if failed else "bold green"))
