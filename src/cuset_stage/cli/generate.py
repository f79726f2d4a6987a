"""`cuset generate`: ask a model for the answers to a task set."""

from pathlib import Path
from typing import Any, ClassVar

import typer
from pydantic import Field

from ..generate import BackendSettings
from ..settings import OutputFile, check_writable
from ._app import TaskSettings, app, command


class GenerateSettings(BackendSettings, TaskSettings):
    positional: ClassVar[tuple[str, ...]] = ("tasks",)

    output: OutputFile = Field(description="the answers file (JSONL); an interrupted run is resumed in it")
    prompts: Path | None = Field(
        None, description="CUDABench's own prompts: your clone, or its Generate/prompt.py; else this package's wording"
    )


@command(app, "generate", GenerateSettings)
def generate(settings: GenerateSettings) -> None:
    """Write a model's answers to a task set: one line per sample, with all settings and the tokens used.

    The exit code is 1 when samples are missing at the end. Run the same command again for them.
    """
    from ..generate.backend import choose_backend
    from ..generate.plan import generate as fill
    from ..progress import Progress, ticking
    from ..tasks import load_tasks
    from ..tasks.messages import EDITIONS
    from ..tasks.prompt_file import read_prompts

    output, samples = settings.output, settings.samples
    check_writable("output", output, settings.tasks)
    task_set = load_tasks(settings.tasks, format=settings.format, **settings.chosen)
    prompts = settings.prompts and read_prompts(settings.prompts)
    wording = (prompts.label if prompts else EDITIONS[-1]) if task_set.format == "cudabench" else None
    recorded, open_backend = choose_backend(settings, prompts=wording)
    opened: list[Any] = []

    def opened_backend() -> Any:
        opened.append(open_backend())
        return opened[0]

    def note() -> str:
        slots = getattr(opened[0], "slots", None) if opened else None
        return f"{slots.tokens:,} tokens" if slots else ""

    with Progress(total=len(task_set) * samples, unit="sample", desc="answers") as bar, ticking(bar, note):
        summary = fill(
            task_set,
            recorded,
            chosen=settings.chosen or None,
            samples=samples,
            prompts=prompts,
            output=output,
            open_backend=opened_backend,
            progress=bar.update,
        )
    failed = len(summary.failures)
    typer.echo(f"answers: {output} ({summary.made} made, {summary.kept} there before, {failed} failed)")
    if summary.cut:
        cut = f"{summary.cut} of {summary.made} answers were cut at max_tokens={settings.max_tokens}"
        typer.echo(f"note: {cut}: a program without its end does not compile. Give more.")
    if failed:
        first = summary.failures[0]
        what = f"the first, {first.request.task} sample {first.request.sample}: {first.message}"
        fix = "Run the same command again for them"
        typer.echo(f"cuset: samples that are missing: {failed}; {what}. {fix}.", err=True)
        raise typer.Exit(1)
