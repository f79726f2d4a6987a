"""`cuset report`: judged runs as Markdown, CSV and one HTML page."""

from pathlib import Path
from typing import Annotated

import typer

from ._app import app, fail, names


@app.command()
def report(
    results: Annotated[list[Path], typer.Argument(help="Results files of `cuset evaluate`, one a method.")],
    output: Annotated[Path, typer.Option(help="The folder to write into.")] = Path("report"),
    audit: Annotated[
        Path | None, typer.Option(help="Findings of an audit of the task set: totals also without flagged tasks.")
    ] = None,
    baseline: Annotated[
        str | None, typer.Option(help="Compare every method with this one. Without it, every pair.")
    ] = None,
    k: Annotated[str, typer.Option(help="The k of pass@k, comma-separated.")] = "1,3",
    intersect: Annotated[
        bool, typer.Option("--intersect", help="Runs on different task sets: count the tasks all of them hold.")
    ] = False,
    title: Annotated[str | None, typer.Option(help="The report's title.")] = None,
    seed: Annotated[int, typer.Option(help="Seed of the bootstrap.")] = 0,
    formats: Annotated[str, typer.Option("--format", help="md, csv, html, comma-separated.")] = "md,csv,html",
) -> None:
    """Report judged runs: pass@k under both rules with intervals, paired comparisons, tokens, and every failing sample."""
    from ..judge.results import ResultsError
    from ..report import FORMATS, AuditError, ReportError, build_report, collect, write_report
    from ..report.terminal import print_report

    try:
        ks = tuple(int(part) for part in names(k))
    except ValueError:
        raise fail(f"--k {k}: positive integers, comma-separated, such as 1,3.") from None
    wanted = names(formats)
    if not wanted or set(wanted) - set(FORMATS):
        raise fail(f"--format {formats}: one or more of {', '.join(FORMATS)}, comma-separated.")
    if output.exists() and not output.is_dir():
        raise fail(f"--output {output}: this is a file; give a folder.")
    try:
        collection = collect(results, audit=audit, intersect=intersect)
        made = build_report(collection, ks=ks, baseline=baseline, seed=seed, title=title)
        written = write_report(made, output, wanted)
    except (ReportError, ResultsError, AuditError) as error:
        raise fail(str(error)) from None
    except OSError as error:
        raise fail(f"--output {output}: cannot be written ({error.strerror}).") from None
    print_report(made)
    for path in written:
        typer.echo(str(path))
