"""The numbers of a pairs run on the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table

from ..report.cells import p_text, percent


ROWS = {
    "from_change": "right preferred",
    "whole": "  over the whole response",
    "changed": "  over the changed tokens",
    "following": "  over what follows them",
    "per_token": "  by the mean over tokens",
}
LENGTH_ROWS = {"wrong_longer": "wrong is longer", "same_length": "same length", "wrong_shorter": "wrong is shorter"}


def print_tables(record: Mapping[str, Any]) -> None:
    """Accuracies in percent with their intervals, a column a model, and the comparisons."""
    models = record["models"]
    table = Table("percent", *models, box=box.SIMPLE)
    for label, cells in _rows(list(models.values())):
        table.add_row(label, *cells)
    console = Console()
    console.print(table)
    for one in record["comparisons"]:
        gap = one["difference"]
        text = f"{one['first']} - {one['second']}: {_interval(gap)} points, p = {p_text(one['p_value'])}"
        console.print(f"{text}, by Holm {p_text(one['p_holm'])}", highlight=False)


def _rows(models: list[Mapping[str, Any]]) -> Iterator[tuple[str, list[str]]]:
    for key, label in ROWS.items():
        yield label, [_interval(model["accuracy"][key]) for model in models]
    yield "two right programs: the one called right", [_interval(model["floor"]["from_change"]) for model in models]
    for kind, found in models[0]["floor_kinds"].items():
        yield f"  {kind} ({found['pairs']})", [_interval(model["floor_kinds"][kind]) for model in models]
    for kind in models[0]["kinds"]:
        yield f"{kind} ({models[0]['kinds'][kind]['pairs']})", [_interval(model["kinds"][kind]) for model in models]
    for key, label in LENGTH_ROWS.items():
        cells = [_interval(model["lengths"][key], model["lengths"]["pairs"][key]) for model in models]
        yield label, cells
    yield "always the shorter", [_interval(model["lengths"]["prefer_shorter"]) for model in models]


def _interval(estimate: Mapping[str, Any] | None, pairs: int | None = None) -> str:
    if not estimate or "value" not in estimate:
        return "-"
    count = "" if pairs is None else f", {pairs} pairs"
    return f"{percent(estimate['value'])} ({percent(estimate['low'])} to {percent(estimate['high'])}{count})"
