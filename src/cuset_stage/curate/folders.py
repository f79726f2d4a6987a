"""A curation's folder: what each stage left, whether that still fits what lies before it, and how many rows became what (the funnel).

A stage does not see what happens later to the stage before it. So summary.json keeps the SHA-256 of the files that a stage read,
and who reports on the folder compares.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Protocol

from ..files import file_sha256
from .journal import Journal
from .stage_rows import CurationError


STAGES = ("import", "adapt", "verify", "select", "write")
_COUNTS = ("read", "kept", "dropped", "unsettled", "repeated")
_NEEDED = (*_COUNTS, "reasons", "seconds", "peak_memory_mib", "settings", "name")


class _Input(Protocol):
    """The settings of a stage that has one before it."""

    folder: Path
    input: tuple[Path, ...]


def input_files(settings: _Input, before: str) -> list[Path]:
    """What a stage reads: its `input`, else what the stage before it left."""
    return list(settings.input) or stage_files(settings.folder, before)


def stage_files(folder: Path, stage: str) -> list[Path]:
    """The files of rows that a stage left in a curation folder.

    Raises:
        CurationError: the stage has not run.
    """
    found = _rows_of(folder, stage)
    if not found:
        raise CurationError(f"{folder}: the stage `{stage}` has not run there; run `cuset curate {stage}` first.")
    return found


def _rows_of(folder: Path, stage: str) -> list[Path]:
    found = sorted((folder / "import").glob("*/rows.jsonl")) if stage == "import" else [folder / stage / "rows.jsonl"]
    return [path for path in found if path.is_file()]


def only_sources(folder: Path, labels: Collection[str], *, fresh: bool) -> None:
    """See that no rows but those of `labels` go from `import` on; `fresh` removes the other sources that were imported.

    Raises:
        CurationError: there are others, or a process is reading one of them.
    """
    others = [path.parent for path in _rows_of(folder, "import") if path.parent.name not in labels]
    if others and not fresh:
        names = ", ".join(path.name for path in others)
        raise CurationError(
            f"{folder / 'import'}: {names}: imported by an earlier command and not in sources= of this one, its rows would go into "
            "the set with what was allowed then. Name it in sources as well, say fresh=true to remove it, or give another folder."
        )
    for path in others:
        with Journal(path, fresh=True):  # under its lock; the folder stays, with the lock and no rows
            pass
        for name in ("rows.jsonl", "dropped.jsonl"):
            (path / name).unlink(missing_ok=True)


# ---------------------------------------------------------------------------------------------------------- what was read


def is_part(root: Path, stage: str, files: Sequence[Path]) -> bool:
    """Whether `files` are others than all those of the stage before: the user gave `input`, and there are more rows."""
    before = _rows_of(root, STAGES[STAGES.index(stage) - 1]) if stage in STAGES[1:] else files
    return {path.resolve() for path in files} != {path.resolve() for path in before}


def hashes(root: Path, files: Sequence[Path]) -> dict[str, str]:
    """SHA-256 by path; a path in the curation folder is relative to it, so that the folder can be moved."""
    return {_label(root, path): file_sha256(path) for path in files if path.is_file()}


def _label(root: Path, path: Path) -> str:
    path, root = path.resolve(), root.resolve()
    return str(path.relative_to(root)) if path.is_relative_to(root) else str(path)


def read_state(path: Path, needed: Sequence[str] = ()) -> dict[str, Any]:
    """summary.json or settings.json of a stage.

    Raises:
        CurationError: it cannot be read, is no JSON object, or lacks a key.
    """
    fix = "run the stage again, with fresh=true where it has that, or move its folder away"
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise CurationError(f"{path}: cannot be read ({error}); {fix}.") from None
    if not isinstance(record, dict):
        raise CurationError(f"{path}: a JSON object was expected, this is a {type(record).__name__}; {fix}.")
    if missing := [key for key in needed if key not in record]:
        raise CurationError(f"{path}: {', '.join(missing)}: missing, a stage writes them; {fix}.")
    return record


def inputs_before(summary: Path) -> dict[str, str]:
    """What earlier runs of a stage read; empty where nothing is known of them."""
    with suppress(CurationError):
        found = read_state(summary).get("inputs")
        return dict(found) if isinstance(found, dict) else {}
    return {}


def stale_stages(root: Path, stages: Sequence[str] = STAGES[1:]) -> dict[str, str]:
    """Stage -> why its results are not those of what now lies before it; without those that are, or of which nothing is known."""
    found = {}
    for stage in stages:
        recorded = inputs_before(root / stage / "summary.json")
        before = STAGES[STAGES.index(stage) - 1]
        changed = []
        for name, digest in recorded.items():
            path = root / name  # an absolute name stays as it is
            if path.is_file():
                changed += [name] if file_sha256(path) != digest else []
            elif not Path(name).is_absolute():
                changed.append(f"{name} (gone)")
        if any(name.split("/")[0] == before for name in recorded):
            changed += [
                name for name in (_label(root, path) for path in _rows_of(root, before)) if name not in recorded
            ]
        if changed:
            where = ", ".join(changed)
            found[stage] = (
                f"{stage} was made from other rows than there are now in {where}; run it and what follows again."
            )
    return found


# ------------------------------------------------------------------------------------------------------------- the funnel


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
    repeated: int
    reasons: dict[str, int]
    seconds: float
    peak_memory_mib: float
    settings: dict[str, Any]
    sources: tuple[str, ...] = ()
    stopped: bool = False
    stale: str = ""


def read_funnel(folder: Path) -> list[Step]:
    """The stages that have run, in order.

    Raises:
        CurationError: none has, or a summary is broken.
    """
    steps: list[Step] = []
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
            console.print(
                f"{step.stage}: " + ", ".join(f"{reason} {count:,}" for reason, count in step.reasons.items())
            )
    for step in steps:
        if step.stale:
            console.print(f"out of date: {step.stale}", markup=False)


def _step(stage: str, records: list[dict[str, Any]], stale: str) -> Step:
    counts = {key: sum(record[key] for record in records) for key in _COUNTS}
    counts["read"] += sum(record.get("elsewhere", 0) for record in records)  # rows of runs with another `input`
    return Step(
        stage=stage,
        **counts,
        reasons=dict(sum((Counter(record["reasons"]) for record in records), Counter()).most_common()),
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
        with suppress(ValueError, KeyError, TypeError):  # cut off; the stage repairs it when it is resumed
            reasons[json.loads(line)["reason"]] += 1
    dropped = reasons.total()
    return Step(
        folder.name, given, kept, dropped, max(0, given - kept - dropped), 0, dict(reasons.most_common()), 0.0, 0.0,
        read_state(folder / "settings.json"), stopped=True,
    )  # fmt: skip


def _lines(path: Path) -> Iterator[bytes]:
    if path.is_file():
        with path.open("rb") as file:
            yield from file
