"""The funnel of a curation: how many rows each stage kept, and why the others were dropped."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from .folders import STAGES, read_journal, read_state, stage_folders, stale_stages
from .stage_rows import CurationError


@dataclass(frozen=True)
class Step:
    """A stage of a curation folder, its sources added up where there are several.

    stopped: the stage was interrupted (any more of its rows may be settled later); time and memory are 0 then. stale: why its rows
    are not those of what now lies before it; empty when they are.
    """

    stage: str
    read: int
    kept: int
    dropped: int
    unsettled: int
    reasons: dict[str, int]
    seconds: float
    peak_memory_mib: float
    settings: dict[str, Any]
    sources: tuple[str, ...]
    stopped: bool
    stale: str


def read_funnel(folder: Path) -> list[Step]:
    """The stages that have run, in order.

    Raises:
        CurationError: none has, or a summary is broken.
    """
    steps: list[Step] = []
    old = stale_stages(folder)
    for stage in STAGES:
        begun = [path for path in stage_folders(folder, stage) if (path / "settings.json").is_file()]
        if not begun:
            continue
        ended = [path / "summary.json" for path in begun if (path / "summary.json").is_file()]
        summaries = [read_state(path, ("unsettled", "seconds", "peak_memory_mib", "name")) for path in ended]
        journals = [read_journal(path) for path in begun]
        kept, reasons = sum(each.kept for each in journals), sum((each.reasons for each in journals), Counter())
        unsettled, stopped = sum(each["unsettled"] for each in summaries), len(ended) < len(begun)
        if stopped and stage != "import":
            unsettled = max(
                0, (steps[-1].kept if steps else 0) - sum(each.items for each in journals) - reasons.total()
            )
        step = Step(
            stage=stage,
            read=sum(each.items for each in journals) + reasons.total() + unsettled,
            kept=kept,
            dropped=reasons.total(),
            unsettled=unsettled,
            reasons=dict(reasons.most_common()),
            seconds=round(sum(each["seconds"] for each in summaries), 3),
            peak_memory_mib=max((each["peak_memory_mib"] for each in summaries), default=0.0),
            settings=read_state(begun[-1] / "settings.json"),
            sources=tuple(each["name"] for each in summaries if each["name"]),
            stopped=stopped,
            stale=old.get(stage, ""),
        )
        steps.append(step)
    if not steps:
        raise CurationError(f"{folder}: no stage has run there; begin with `cuset curate import`.")
    return steps


def as_records(steps: list[Step]) -> list[dict[str, Any]]:
    return [{key: value for key, value in asdict(step).items() if key != "settings"} for step in steps]


def print_funnel(steps: list[Step]) -> None:
    """The funnel as a table, and under it why rows were dropped."""
    from rich.console import Console
    from rich.table import Table

    console = Console()
    table = Table("stage", title="funnel", title_justify="left")
    for column in ("read", "kept", "dropped", "to try again", "seconds", "peak MiB"):
        table.add_column(column, justify="right")
    for step in steps:
        numbers = (f"{number:,}" for number in (step.read, step.kept, step.dropped, step.unsettled))
        spent = ("stopped", "") if step.stopped else (f"{step.seconds:,.1f}", f"{step.peak_memory_mib:,.0f}")
        table.add_row(step.stage, *numbers, *spent)
    console.print(table)
    for step in steps:
        if step.reasons:
            why = ", ".join(f"{reason} {count:,}" for reason, count in step.reasons.items())
            console.print(f"{step.stage}: {why}")
        if step.stale:
            console.print(f"out of date: {step.stale}", markup=False)
