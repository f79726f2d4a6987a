"""`cuset study`: from models, methods and seeds to tables."""

import typer

from ..study.settings import StudySettings
from ._app import Group, app, command


study = typer.Typer(
    name="study",
    cls=Group,
    help="Compare methods on models over seeds: training, sampling, judging, pairs, confidence and tables, as jobs of Snakemake.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
app.add_typer(study)


@command(study, "run", StudySettings)
def run(settings: StudySettings) -> None:
    """Run what is left of a study, and write its tables. If interrupted, run the same command again to resume.

    `dry_run=true` prints the jobs, their GPU hours and their disk, and starts nothing.
    """
    from ..study.plan import jobs_of, wanted
    from ..study.report import write_report
    from ..study.run import failed_jobs, forecast, run_snakemake, what_is_left, write_study

    every = jobs_of(settings)
    jobs = wanted(settings, every)
    for line in forecast(what_is_left(settings, jobs)):
        typer.echo(line)
    if settings.dry_run:
        return
    write_study(settings, every)
    status = run_snakemake(settings, jobs)
    failed = failed_jobs(settings, jobs)
    if any((settings.output / "runs").glob("*/*/*/results.jsonl")):
        for path in write_report(settings):
            typer.echo(str(path))
    for name, log in failed.items():
        typer.echo(f"failed: {name}; its log: {log}", err=True)
    if status or failed:
        typer.echo("The same command runs again what failed and what needs it.", err=True)
        raise typer.Exit(1)
