"""`cuset curate`: make a verified training set from kernels found anywhere, stage by stage or in one run."""

import json
import shutil
from collections import Counter
from importlib import import_module
from typing import TYPE_CHECKING, Any, NoReturn

import typer

from ..curate.settings import (
    STAGE_SETTINGS,
    STAGES,
    ExportSettings,
    FunnelSettings,
    ImportSettings,
    RoundsSettings,
    RunSettings,
)
from ..files import errors_name
from ._app import add_group, command


if TYPE_CHECKING:
    from ..curate.stage import Summary

curate = add_group(
    "curate",
    "Make a training set from kernels found anywhere: import, split, deduplicate, write, adapt, answer, prove, select, export. Every stage keeps "
    "its rows, what it dropped and why in a folder of its own. If interrupted, run the same command again to resume.",
)


# Every stage is a command of its own. The name is bound as a default value, because all lambdas share the loop's
# variable.
for _name, _settings in STAGE_SETTINGS.items():
    command(curate, _name, _settings)(lambda given, name=_name: _stage(name, given))


@command(curate, "run", RunSettings)
def run(settings: RunSettings) -> None:
    """Run all stages, one after the other, and print the funnel.

    If interrupted, run the same command again to resume.
    """
    from ..curate.funnel import print_funnel, read_funnel
    from ..curate.stage import locked

    _check(settings)
    with locked(settings.folder):
        _import_all(settings)
        for name in STAGES[1:]:
            _stage(name, settings.of(STAGE_SETTINGS[name]))
    print_funnel(read_funnel(settings.folder))
    target = settings.of(ExportSettings)
    typer.echo(f"data card: {target.target / f'{target.name}.md'}")


@command(curate, "rounds", RoundsSettings)
def rounds(settings: RoundsSettings) -> None:
    """Let a model make its own training data: it answers, is trained on its right answers, and answers again.

    If interrupted, run the same command again to resume.
    """
    from ..curate.funnel import pass_rates, sentences
    from ..curate.rounds import SHARED, round_settings, train, trained
    from ..curate.stage import locked

    _check(settings)
    with locked(settings.folder) as lock:
        _import_all(settings)
        for name in SHARED[1:]:
            _stage(name, settings.of(STAGE_SETTINGS[name]))
        for number in range(1, settings.rounds + 1):
            typer.echo(f"round {number}")
            of_round = round_settings(settings, number)
            for name in STAGES[len(SHARED) :]:
                _stage(name, of_round.of(STAGE_SETTINGS[name]))
            train(settings, number, lock)
    for number in range(1, settings.rounds + 1):
        (model,) = trained(settings.folder, number).values()
        lines = sentences(pass_rates(settings.folder / f"round{number}" / "prove")) or ["no task was asked"]
        typer.echo(f"round {number}: {lines[0]}; trained: {model}")


def _check(settings: RunSettings) -> None:
    """Check what would otherwise fail only in a later stage."""
    from ..curate.contamination import read_benchmarks
    from ..curate.export import check_target
    from ..generate.backend import choose_backend

    read_benchmarks(settings.against)
    check_target(settings.of(ExportSettings), (source.path for source in settings.sources))
    if settings.write and settings.write.endpoint:
        choose_backend(settings.write.backend)
    if settings.answer and settings.answer.model:
        choose_backend(settings.answer)


def _import_all(settings: RunSettings) -> None:
    """Import every source."""
    # Only the rows of these sources may go on to the next stage, so remove all that was imported before, also in part.
    # Sources that are still listed are imported again.
    for folder in {rows.parent for rows in settings.folder.glob("import/*/rows.jsonl*")}:
        shutil.rmtree(folder)
    common = {"folder": settings.folder, "workers": settings.workers}
    _stage("import", *(ImportSettings(**common, **source.model_dump()) for source in settings.sources))


@command(curate, "funnel", FunnelSettings)
def funnel(settings: FunnelSettings) -> None:
    """Show how many rows every stage kept, and why the others were dropped."""
    from ..curate.funnel import print_funnel, read_funnel

    steps = read_funnel(settings.folder)
    if settings.format == "json":
        typer.echo(json.dumps(steps, indent=2))
    else:
        print_funnel(steps)


def _stage(name: str, *settings: Any) -> None:
    """Run a stage and print what it did. A stage that keeps no row has failed.

    The stage runs once per settings: `import` has one for each source, and other stages have one.
    """
    module = import_module(f"..curate.{'importing' if name == 'import' else name}", __package__)
    summaries = []
    for run_settings in settings:
        with errors_name(run_settings.folder):
            summaries.append(getattr(module, f"run_{name}")(run_settings))
        _report(summaries[-1])
    if not any(summary.kept for summary in summaries):
        _fail(summaries)


def _report(summary: "Summary") -> None:
    """Print a stage's numbers of rows, its reasons for dropping rows, and its notes."""
    label = f"{summary.stage} {summary.name}".strip()
    again = f", {summary.unsettled:,} to try again" if summary.unsettled else ""
    counts = f"{summary.read:,} rows, {summary.kept:,} kept, {summary.dropped:,} dropped{again}"
    typer.echo(f"{label}: {counts}, {summary.seconds:.1f} s")
    for reason, count in summary.reasons.items():
        typer.echo(f"  {reason}: {count:,}")
    for note in summary.notes:
        typer.echo(f"  note: {note}", err=True)
    # The first row of each detail, because most unsettled rows wait for the same thing.
    first = {row["detail"]: row for row in reversed(summary.unsettled_rows)}
    for row in list(first.values())[:5]:
        typer.echo(f"  again: {row['file']}, row {row['row']}: {row['reason']}: {row['detail'][:300]}", err=True)


_FIXES = {
    "missing_column": "Say which column holds what: columns={code: COLUMN}, or columns={answer: COLUMN} for answers with code in them; "
    "or name the data set's preset=, for conversations messages, sharegpt or alpaca.",
    "licence_unknown": "Say licence=SPDX where you know it, or allow_unknown=true.",
    "licence_not_allowed": "Add what you may use to allow=, as in allow=MIT,Apache-2.0.",
    "no_kernel": "Give sources with __global__ functions; suffixes=.cu,.cuh,.h reads other files of a tree.",
    "no_answer": "Tasks without an answer: name a model, or an endpoint, that answers them, as in answer={model: FOLDER, samples: 4}.",
    "cut_off": "Replies end at max_tokens, reasoning included: give a higher one, or turn reasoning off by extra_body.",
    "bad_reply": "Replies are fenced blocks; read some in the folder `replies`. Leave out a response_format in extra_body, or try a "
    "stronger model.",
    "incorrect": "All rows are wrong by what their source says; give another part of it.",
    "duplicate": "All rows are there already; look into dropped.jsonl.",
    "contaminated": "All rows come from the benchmarks in against=; train on something else.",
}


def _fail(summaries: list["Summary"]) -> NoReturn:
    """End with exit code 1, and print why most rows were dropped, with the first such row as an example and a fix."""
    reasons: Counter[str] = sum((Counter(summary.reasons) for summary in summaries), Counter())
    text = f"cuset: {summaries[0].stage} kept no row"
    if not reasons:
        names = ", ".join(sorted({summary.name or "its input" for summary in summaries}))
        has_unsettled = any(summary.unsettled for summary in summaries)
        outcome = "nothing could be settled, see above" if has_unsettled else f"there are none in {names}"
        typer.echo(f"{text}; {outcome}.", err=True)
        raise typer.Exit(1)
    ((reason, count),) = reasons.most_common(1)
    row = next(summary.examples[reason] for summary in summaries if reason in summary.examples)
    example = f"{row['file']}, row {row['row']}: {row['detail'].rstrip('.')}"
    typer.echo(f"{text}; most were dropped for {reason} ({count:,}), such as {example}.", err=True)
    typer.echo("dropped.jsonl in its folder has each row with its reason.", err=True)
    if reason in _FIXES:
        typer.echo(_FIXES[reason], err=True)
    raise typer.Exit(1)
