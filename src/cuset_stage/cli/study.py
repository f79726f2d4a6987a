"""`cuset study`: compare methods on models over seeds, from training to the tables."""

import typer

from ..study.settings import StudySettings
from ._app import COMMANDS, add_group, command


study = add_group(
    "study",
    "Compare methods on models over seeds: training, sampling, judging, pairs, confidence and tables, as jobs of Snakemake.",
)


@command(study, "run", StudySettings)
def run(settings: StudySettings) -> None:
    """Run the jobs that are left of a study, and write its tables.

    If interrupted, run the same command again to resume. `dry_run=true` prints the jobs, their GPU hours and their
    disk, and starts nothing.
    """
    from ..report.cells import print_table
    from ..study.checks import check_keys, missing
    from ..study.plan import StudyError, jobs_of, wanted
    from ..study.run import check_begun, failed_jobs, forecast, gpu_names, jobs_left, run_study, short_of_gpus

    all_jobs = jobs_of(settings)
    jobs = wanted(settings, all_jobs)
    check_keys(settings, all_jobs, COMMANDS)
    check_begun(settings, all_jobs)
    gpus = len(gpu_names(settings)) if settings.executor == "local" else 0
    table, forecast_lines = forecast(settings, jobs, gpus or settings.gpus or 0)
    print_table(table)
    typer.echo("\n".join(forecast_lines))
    jobs_to_run = jobs_left(settings, jobs)
    missing_items = missing(settings, jobs_to_run)
    if gpus or not settings.dry_run:  # a dry run on a machine without GPUs is a plan for another machine
        missing_items += short_of_gpus(settings, jobs_to_run)
    if settings.dry_run:
        for item in missing_items:
            typer.echo(f"missing: {item}")
        return
    if missing_items:
        raise StudyError("\n".join(missing_items))
    try:
        status = run_study(settings, all_jobs)
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
    """Write the report, also of an interrupted study, and print the paths of its files."""
    from ..study.plan import jobs_of
    from ..study.report import write_report
    from ..study.run import records_of

    records = records_of(settings, jobs_of(settings))
    if any(name.startswith("evaluate/") for name in records):
        for path in write_report(settings, records):
            typer.echo(str(path))
