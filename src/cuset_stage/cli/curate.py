"""`cuset curate`: from kernels found anywhere to a verified training set, a stage at a time or all in one go."""

from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Literal

import typer
from pydantic import Field

from ..curate.settings import (
    AdaptSettings,
    ImportSettings,
    RunSettings,
    SelectSettings,
    VerifySettings,
    WriteSettings,
)
from ..settings import Settings
from ._app import Group, app, command


if TYPE_CHECKING:
    from ..curate.stage import Summary

curate = typer.Typer(
    name="curate",
    cls=Group,
    help="Make a training set from kernels found anywhere: import, adapt, verify, select, write. Every stage keeps its rows, what it "
    "dropped and why in a folder of its own. If interrupted, run the same command again to resume.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
app.add_typer(curate)


@command(curate, "import", ImportSettings)
def import_(settings: ImportSettings) -> None:
    """Read a source on this machine; nothing is downloaded. May be run for several sources."""
    from ..curate.importing import run_import

    _finish(settings.folder, run_import(settings))


@command(curate, "adapt", AdaptSettings)
def adapt(settings: AdaptSettings) -> None:
    """Make tasks of the rows that come complete: with a program and its cases, or as a PyTorch module with its answer."""
    from ..curate.adapt import run_adapt

    _finish(settings.folder, run_adapt(settings))


@command(curate, "verify", VerifySettings)
def verify(settings: VerifySettings) -> None:
    """Compile every program and run every case twice in the judge's sandbox; keep what passes. If interrupted, resume."""
    from ..curate.verify import run_verify

    _finish(settings.folder, run_verify(settings))


@command(curate, "select", SelectSettings)
def select(settings: SelectSettings) -> None:
    """Remove duplicates and rows from benchmarks; keep the best, in balance; report lengths."""
    from ..curate.select import run_select

    _finish(settings.folder, run_select(settings))


@command(curate, "write", WriteSettings)
def write(settings: WriteSettings) -> None:
    """Write LLaMA-Factory data with its dataset_info.json entry and a data card, split by task."""
    from ..curate.write import run_write

    _finish(settings.folder, run_write(settings))


@command(curate, "run", RunSettings)
def run(settings: RunSettings) -> None:
    """All stages, one after the other, and the funnel. If interrupted, run the same command again to resume."""
    from ..curate.adapt import run_adapt
    from ..curate.contamination import read_benchmarks
    from ..curate.folders import only_sources
    from ..curate.funnel import print_funnel, read_funnel
    from ..curate.importing import run_import
    from ..curate.select import run_select
    from ..curate.verify import run_verify
    from ..curate.write import run_write

    read_benchmarks(settings.against)  # better known now than after hours of running
    only_sources(settings.folder, [source.label for source in settings.sources], fresh=settings.fresh)
    summaries = []
    for source in settings.sources:
        given = ImportSettings(folder=settings.folder, fresh=settings.fresh, **source.model_dump())
        summaries.append(run_import(given))
        _report(summaries[-1])
    _check_kept(settings.folder, summaries)
    _finish(settings.folder, run_adapt(settings.of(AdaptSettings)))
    _finish(settings.folder, run_verify(settings.of(VerifySettings)))
    _finish(settings.folder, run_select(settings.of(SelectSettings)))
    target = settings.of(WriteSettings)
    _finish(settings.folder, run_write(target))
    print_funnel(read_funnel(settings.folder))
    typer.echo(f"data card: {target.target / f'{target.name}.md'}")


class FunnelSettings(Settings):
    positional: ClassVar[tuple[str, ...]] = ("folder",)

    folder: Path = Field(description="the folder of a curation")
    format: Literal["table", "json"] = Field("table", description="how it is printed")


@command(curate, "funnel", FunnelSettings)
def funnel(settings: FunnelSettings) -> None:
    """How many rows every stage kept, and why the others were dropped."""
    import json

    from ..curate.funnel import as_records, print_funnel, read_funnel

    steps = read_funnel(settings.folder)
    if settings.format == "json":
        typer.echo(json.dumps(as_records(steps), indent=2))
    else:
        print_funnel(steps)


def _finish(folder: Path, summary: "Summary") -> None:
    _report(summary)
    _check_kept(folder, [summary])


def _report(summary: "Summary") -> None:
    label = f"{summary.stage} {summary.name}".strip()
    resumed = f" ({summary.resumed:,} of them before)" if summary.resumed else ""
    again = f", {summary.unsettled:,} to try again" if summary.unsettled else ""
    typer.echo(
        f"{label}: {summary.read:,} rows{resumed}, {summary.kept:,} kept, {summary.dropped:,} dropped{again}, {summary.seconds:.1f} s"
    )
    for reason, count in summary.reasons.items():
        typer.echo(f"  {reason}: {count:,}")
    for note in summary.notes:
        typer.echo(f"  note: {note}", err=True)
    for row in summary.unsettled_rows[:5]:
        typer.echo(f"  again: {row['file']}, row {row['row']}: {row['reason']}: {row['detail'][:300]}", err=True)


def _check_kept(folder: Path, summaries: list["Summary"]) -> None:
    """A run that keeps nothing has failed."""
    from collections import Counter

    if any(summary.kept for summary in summaries):
        return
    reasons: Counter[str] = sum((Counter(summary.reasons) for summary in summaries), Counter())
    stage = summaries[0].stage
    lines = [f"cuset: {stage} kept no row."]
    if not reasons and any(summary.unsettled for summary in summaries):
        lines = [f"cuset: {stage} kept no row; nothing could be settled, see above."]
    for reason, count in reasons.most_common(1):
        lines = [
            f"cuset: {stage} kept no row; most were dropped for {reason} ({count:,}), such as {_example(folder, stage, reason)}.",
            "dropped.jsonl in its folder has each row with its reason.",
        ]
        if reason == "missing_column":
            lines.append(
                "Say which column holds what: columns={code: COLUMN}, or columns={answer: COLUMN} for answers with code in them."
            )
    typer.echo("\n".join(lines), err=True)
    raise typer.Exit(1)


def _example(folder: Path, stage: str, reason: str) -> str:
    """The first row of a stage that was dropped for this reason, and what was wrong with it."""
    from ..curate.folders import stage_folders
    from ..jsonl import read_objects

    files = [path / "dropped.jsonl" for path in stage_folders(folder, stage)]
    row = next(row for file in files for _, row in read_objects(file) if row["reason"] == reason)
    return f"{row['file']}, row {row['row']}: {row['detail']}"
