"""`cuset study`: from models, methods and seeds to tables."""

import typer

from ..study.settings import StudySettings
from ._app import COMMANDS, add_group, command


study = add_group(
    "study",
    "Compare methods on models over seeds: training, sampling, judging, pairs, confidence and tables, as jobs of Snakemake.",
)


@command(study, "run", StudySettings)
def run(settings: StudySettings) -> None:
    """Run what is left of a study, and write its tables. If interrupted, run the same command again to resume.

    `dry_run=true` prints the jobs, their GPU hours and their disk, and starts nothing.
    """
    from ..report.cells import print_table
    from ..study.checks import check_keys, missing
    from ..study.plan import StudyError, jobs_of, wanted
    from ..study.run import check_begun, failed_jobs, forecast, gpu_names, jobs_left, run_study, short_of_gpus

    every = jobs_of(settings)
    jobs = wanted(settings, every)
    check_keys(settings, every, COMMANDS)
    check_begun(settings, every)
    gpus = len(gpu_names(settings)) if settings.executor == "local" else 0
    table, said = forecast(settings, jobs, gpus or settings.gpus or 0)
    print_table(table)
    typer.echo("\n".join(said))
    left = jobs_left(settings, jobs)
    absent = missing(settings, left)
    if gpus or not settings.dry_run:  # without any, it is a plan for another machine
        absent += short_of_gpus(settings, left)
    if settings.dry_run:
        for what in absent:
            typer.echo(f"missing: {what}")
        return
    if absent:
        raise StudyError("\n".join(absent))
    try:
        status = run_study(settings, every, jobs)
    except KeyboardInterrupt:
        _report(settings)
        raise
    failed = failed_jobs(settings, jobs)
    for name, log in failed.items():
        typer.echo(f"failed: {name}; its log: {log}", err=True)
    if failed:
        typer.echo("The same command runs again what failed and what needs it.", err=True)
    elif status:
        typer.echo(f"Snakemake ended with exit code {status}; what it says of it stands above.", err=True)
    _report(settings)
    if status or failed:
        raise typer.Exit(1)


def _report(settings: StudySettings) -> None:
    """Write the report, of an interrupted study too, and print its files."""
    from ..study.report import write_report

    if any((settings.output / "done" / "evaluate").glob("*/*/*.json")):
        for path in write_report(settings):
            typer.echo(str(path))
