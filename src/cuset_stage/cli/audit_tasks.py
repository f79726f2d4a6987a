"""`cuset audit-tasks`: find the tasks of a set whose oracle lets wrong outputs pass."""

import os
from contextlib import closing
from pathlib import Path
from typing import ClassVar

import typer
from pydantic import Field, PositiveInt

from ..settings import OutputFile, check_writable
from ._app import TaskSettings, app, command


class AuditSettings(TaskSettings):
    positional: ClassVar[tuple[str, ...]] = ("tasks",)

    output: OutputFile = Field(
        Path("audit.jsonl"), description="the file of findings (JSONL), which `cuset evaluate` notes in its results"
    )
    jobs: PositiveInt | None = Field(None, description="tasks at a time; without it half of the CPUs")
    strict: bool = Field(False, description="exit code 1 when a task has an error or a warning")


@command(app, "audit-tasks", AuditSettings)
def audit_tasks(settings: AuditSettings) -> None:
    """Try every task's oracle with outputs that should not pass: zeros, constants, copies of inputs, noise.

    This needs no GPU. Audits are stored by the content of the task. If interrupted, run the same command again to
    resume.
    """
    from .. import __version__
    from ..files import write_atomically
    from ..jsonl import to_line
    from ..judge.audit import audit_tasks as run_audits
    from ..judge.oracle import CaseCache
    from ..progress import Progress
    from ..report.cells import Table, print_table, text_column
    from ..tasks import load_tasks

    tasks, output = settings.tasks, settings.output
    check_writable("output", output, tasks)
    task_set = load_tasks(tasks, format=settings.format, **settings.chosen)
    chosen = task_set.tasks
    jobs = settings.jobs or max(1, len(os.sched_getaffinity(0)) // 2)
    with closing(run_audits(chosen, CaseCache(), jobs=jobs)) as running:
        bar = Progress(running, total=len(chosen), unit="task", desc="audited")
        audits_by_task = {audit.task: audit for audit in bar}
    audits = [audits_by_task[task.id] for task in chosen]
    about = {"path": str(task_set.path), "format": task_set.format, "sha256": task_set.sha256}
    about |= {"count": len(task_set), "split": settings.split}
    header = {"type": "audit", "cuset_stage": __version__, "tasks": about}
    write_atomically(output, map(to_line, [header, *(audit.as_record() for audit in audits)]))
    if findings := [finding for audit in audits for finding in audit.flagged]:
        keys = {"task": "task", "severity": "severity", "code": "code", "finding": "message"}
        columns = [text_column(name, [getattr(finding, key) for finding in findings]) for name, key in keys.items()]
        print_table(Table("findings", "", columns))
    flagged = sum(bool(audit.flagged) for audit in audits)
    typer.echo(f"{len(audits)} tasks, {flagged} with an error or a warning: {output}")
    if settings.strict and flagged:
        raise typer.Exit(1)
