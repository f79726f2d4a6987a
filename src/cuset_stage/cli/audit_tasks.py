"""`cuset audit-tasks`: which tasks of a set have an oracle that wrong outputs pass."""

import json
import os
from contextlib import closing
from pathlib import Path
from typing import Annotated

import typer

from ._app import app, fail, names


@app.command("audit-tasks")
def audit_tasks(
    tasks: Annotated[Path, typer.Argument(help="The task set: CUDABench's JSONL, our own, or KernelBench's folder.")],
    output: Annotated[Path, typer.Option(help="The file of findings (JSONL) for `cuset report --audit`.")] = Path(
        "audit.jsonl"
    ),
    task_format: Annotated[str, typer.Option("--format", help="auto, cudabench, cuset or kernelbench.")] = "auto",
    split: Annotated[str | None, typer.Option(help="Only the tasks of this split.")] = None,
    only: Annotated[str, typer.Option(help="Only these tasks, ids or names separated by commas.")] = "",
    jobs: Annotated[int | None, typer.Option(help="Tasks at a time. Without it, half of the CPUs.")] = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="Exit code 1 when a task has an error or a warning.")
    ] = False,
    again: Annotated[bool, typer.Option("--again", help="Audit also what was audited before.")] = False,
    notes: Annotated[bool, typer.Option("--notes", help="Show notes too; the file always has them.")] = False,
) -> None:
    """Try every task's oracle with outputs that should not pass: zeros, constants, copies of inputs, noise. Needs no GPU.

    Audits are kept by the content of the task: a run that was stopped goes on where it was.
    """
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    from .. import __version__
    from ..files import write_atomically
    from ..judge.audit import audit_tasks as run_audits
    from ..judge.audit import is_findings_file
    from ..judge.oracle import CaseCache
    from ..sandbox import SandboxError
    from ..tasks import TaskError, load_tasks

    if jobs is not None and jobs < 1:
        raise fail(f"--jobs {jobs}: at least 1.")
    if output.is_dir():
        raise fail(f"--output {output}: this is a folder; give the name of a file, such as {output / 'audit.jsonl'}.")
    if output.exists() and tasks.exists() and output.samefile(tasks):
        raise fail(f"--output {output}: this is the task file; findings go to another one.")
    if output.exists() and not (output.is_file() and is_findings_file(output)):
        raise fail(
            f"--output {output}: a file is there that `cuset audit-tasks` did not write; give another name, or remove it."
        )
    try:
        task_set = load_tasks(tasks, format=task_format, split=split, only=names(only))
        cases = CaseCache()
    except (TaskError, SandboxError) as error:
        raise fail(str(error)) from None
    console = Console(stderr=True)
    columns = (TextColumn("audit"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    audits = {}
    try:
        with Progress(*columns, console=console) as progress:
            bar = progress.add_task("audit", total=len(task_set))
            running = run_audits(task_set.tasks, cases, jobs=jobs or max(1, (os.cpu_count() or 1) // 2), again=again)
            with closing(running):
                for audit in running:
                    audits[audit.task] = audit
                    progress.advance(bar)
        header = {
            "type": "audit",
            "cuset_stage": __version__,
            "tasks": {
                "path": str(task_set.path),
                "format": task_set.format,
                "sha256": task_set.sha256,
                "count": len(task_set),
                "split": split,
            },
        }
        ordered = [audits[task.id] for task in task_set]
        lines = [header, *(audit.as_record() for audit in ordered)]
        write_atomically(output, "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines))
    except (SandboxError, OSError) as error:
        raise fail(str(error)) from None
    except KeyboardInterrupt:
        typer.echo("\ncuset: stopped; the same command goes on after the tasks that are done.", err=True)
        raise typer.Exit(130) from None
    _print(ordered, notes)
    flagged = sum(bool(audit.flagged) for audit in ordered)
    typer.echo(f"{len(ordered)} tasks, {flagged} with an error or a warning: {output}")
    if strict and flagged:
        raise typer.Exit(1)


def _print(audits: list, notes: bool) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    colours = {"error": "red", "warning": "yellow", "note": "dim"}
    table = Table(box=box.SIMPLE)
    for column in ("task", "severity", "code", "finding"):
        table.add_column(column, overflow="fold")
    for audit in audits:
        for finding in audit.findings if notes else audit.flagged:
            severity = Text(finding.severity, style=colours[finding.severity])
            table.add_row(Text(finding.task), severity, Text(finding.code), Text(finding.message))
    if table.row_count:
        Console().print(table)
