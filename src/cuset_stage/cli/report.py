"""`cuset report`: write a report of judged runs as Markdown, CSV and one HTML page."""

from pathlib import Path
from typing import Annotated, ClassVar

import typer
from pydantic import BeforeValidator, Field, PositiveInt

from ..settings import Names, PositiveNumbers, Settings, split_names
from ._app import app, command, fail


class ReportSettings(Settings):
    positional: ClassVar[tuple[str, ...]] = ("results",)

    results: Annotated[tuple[Path, ...], BeforeValidator(split_names)] = Field(
        description="results files of `cuset evaluate`, one a method", min_length=1
    )
    output: Path = Field(Path("report"), description="the folder to write into")
    baseline: str | None = Field(None, description="compare every method with this one; without it, every pair")
    k: PositiveNumbers = Field(
        (1, 3), description="the k of pass@k; without it 1, and 3 where a task has so many samples", min_length=1
    )
    only: Names = Field((), description="report these tasks alone, by id")
    limit: PositiveInt | None = Field(None, description="only the first so many tasks")
    title: str | None = Field(None, description="the report's title")


@command(app, "report", ReportSettings)
def report(settings: ReportSettings) -> None:
    """Report judged runs: pass@k under both rules with intervals, paired comparisons, tokens, every failing sample."""
    from ..report.collect import collect
    from ..report.numbers import build_report
    from ..report.write import print_report, write_report

    if settings.output.exists() and not settings.output.is_dir():
        raise fail(f"output={settings.output}: this is a file; give a folder.")
    collection = collect(settings.results, only=settings.only, limit=settings.limit)
    has_samples = [k for k in settings.k if any(run.offers("compiled", k) for run in collection.runs)]
    ks = settings.k if "k" in settings.model_fields_set else has_samples or (1,)
    built = build_report(collection, ks=ks, baseline=settings.baseline, title=settings.title)
    written = write_report(built, settings.output)
    print_report(built)
    for path in written:
        typer.echo(str(path))
