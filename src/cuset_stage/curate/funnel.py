"""How many rows each stage was given, and what became of them: summary.json of every stage that has run, the rows themselves of one
that was stopped."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .inputs import STAGES, read_state, stale_stages
from .stage_rows import CurationError


_COUNTS = ("read", "kept", "dropped", "unsettled", "repeated")
_NEEDED = (*_COUNTS, "reasons", "seconds", "peak_memory_mib", "settings", "name")


@dataclass(frozen=True)
class Step:
    """A stage of a curation folder, its sources added up where there are several.

    `stopped`: the stage has not come to its end (any more of its rows may be settled later); time and memory are 0 then.
    `stale`: why its rows are not those of what now lies before it; empty when they are.
    """

    stage: str
    read: int
    kept: int
    dropped: int
    unsettled: int
    repeated: int
    reasons: dict[str, int]
    seconds: float
    peak_memory_mib: float
    settings: dict[str, Any]
    sources: tuple[str, ...]
    stopped: bool = False
    stale: str = ""


def read_funnel(folder: Path) -> list[Step]:
    """The stages that have run, in order.

    Raises:
        CurationError: none has, or a summary is broken.
    """
    steps = []
    old = stale_stages(folder)
    for stage in STAGES:
        paths = (
            sorted((folder / "import").glob("*/summary.json"))
            if stage == "import"
            else [folder / stage / "summary.json"]
        )
        records = [read_state(path, _NEEDED) for path in paths if path.is_file()]
        if records:
            steps.append(_step(stage, records, old.get(stage, "")))
        elif (folder / stage / "settings.json").is_file():
            steps.append(_stopped_step(folder / stage, steps[-1].kept if steps else 0))
    if not steps:
        raise CurationError(f"{folder}: no stage has run there; begin with `cuset curate import`.")
    return steps


def as_records(steps: list[Step]) -> list[dict[str, Any]]:
    return [{key: value for key, value in vars(step).items() if key != "settings"} for step in steps]


def print_funnel(steps: list[Step]) -> None:
    """The funnel as a table, and under it why rows went."""
    from rich.console import Console
    from rich.table import Table

    console = Console()
    table = Table(
        "stage", "read", "kept", "dropped", "to try again", "seconds", "peak MiB", title="funnel", title_justify="left"
    )
    for column in table.columns[1:]:
        column.justify = "right"
    for step in steps:
        numbers = (step.read, step.kept, step.dropped, step.unsettled)
        table.add_row(
            step.stage,
            *(f"{number:,}" for number in numbers),
            "stopped" if step.stopped else f"{step.seconds:,.1f}",
            "" if step.stopped else f"{step.peak_memory_mib:,.0f}",
        )
    console.print(table)
    for step in steps:
        if step.reasons:
            console.print(
                f"{step.stage}: " + ", ".join(f"{reason} {count:,}" for reason, count in step.reasons.items())
            )
    for step in steps:
        if step.stale:
            console.print(f"out of date: {step.stale}", markup=False)


def _step(stage: str, records: list[dict[str, Any]], stale: str) -> Step:
    reasons: Counter[str] = Counter()
    for record in records:
        reasons.update(record["reasons"])
    counts = {key: sum(record[key] for record in records) for key in _COUNTS}
    counts["read"] += sum(record.get("elsewhere", 0) for record in records)  # rows of runs with another --input
    return Step(
        stage=stage,
        **counts,
        reasons=dict(reasons.most_common()),
        seconds=round(sum(record["seconds"] for record in records), 3),
        peak_memory_mib=max(record["peak_memory_mib"] for record in records),
        settings=records[-1]["settings"],
        sources=tuple(record["name"] for record in records if record["name"]),
        stale=stale,
    )


def _stopped_step(folder: Path, given: int) -> Step:
    """What the journal of a stage without a summary holds; `given`: how many rows the stage before it kept."""
    kept = sum(1 for _ in _lines(folder / "rows.jsonl"))
    reasons: Counter[str] = Counter()
    for line in _lines(folder / "dropped.jsonl"):
        with suppress(ValueError, KeyError, TypeError):  # cut off; the stage mends it when it goes on
            reasons[json.loads(line)["reason"]] += 1
    dropped = reasons.total()
    return Step(
        stage=folder.name,
        read=given,
        kept=kept,
        dropped=dropped,
        unsettled=max(0, given - kept - dropped),
        repeated=0,
        reasons=dict(reasons.most_common()),
        seconds=0.0,
        peak_memory_mib=0.0,
        settings=read_state(folder / "settings.json"),
        sources=(),
        stopped=True,
    )


def _lines(path: Path) -> Iterator[bytes]:
    if path.is_file():
        with path.open("rb") as file:
            yield from file
