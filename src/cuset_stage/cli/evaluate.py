"""`cuset evaluate`: judge a model's answers."""

import os
import sys
from pathlib import Path
from statistics import median
from typing import Any, ClassVar, Literal

import typer
from pydantic import Field, NonNegativeInt, PositiveInt

from ..judge.judge_spec import EvaluationSpec
from ..settings import OutputFile, check_writable
from ._app import TaskSettings, app, command, fail


class _Samples(TaskSettings):
    """The keys that say what is judged. They have a class of their own, so that they come first in the help."""

    answers: Path = Field(description="the answers: a JSONL file")
    output: OutputFile = Field(description="the results file (JSONL); an interrupted run resumes in it")
    method: str | None = Field(None, description="what reports call these answers, such as sft or cuset")
    level: PositiveInt | None = Field(None, description="only answers to prompts of this level, 1 to 3")
    extract: Literal["first", "last", "first-any"] = Field(
        "first", description="which block of an answer is the code (first-any: CUDABench's rule)"
    )


class EvaluateSettings(EvaluationSpec, _Samples):
    positional: ClassVar[tuple[str, ...]] = ("answers",)

    jobs: PositiveInt | None = Field(None, description="compilations at a time; without it one a CPU")
    retry_infra: NonNegativeInt = Field(2, description="further tries when the judge's own side fails")


@command(app, "evaluate", EvaluateSettings)
def evaluate(settings: EvaluateSettings) -> None:
    """Compile and run each answer on its task's inputs, and write one verdict per sample.

    Results are written as they come. If interrupted, run the same command again to resume. A sample is judged again
    only if its code, its task, the flags or the limits changed. The exit code is 3 when the judge itself failed on
    some samples (infra_error, such as no space or a lost GPU). These are not charged to the model, and the same
    command judges them again.
    """
    from ..judge.bench import Bench
    from ..judge.results import asked_tasks, choose_samples, describe_run, inputs_seed, make_samples
    from ..judge.results import evaluate as run
    from ..progress import Progress
    from ..tasks import ModuleTask, load_tasks
    from ..tasks.answers_file import read_answers

    answers, output = settings.answers, settings.output
    check_writable("output", output, answers, settings.tasks)
    tasks = load_tasks(settings.tasks, format=settings.format)
    loaded = read_answers(answers)
    if not loaded:
        raise fail(f"{answers}: no answers in this file; expected an object a line, as `cuset generate` writes them.")
    everything = make_samples(loaded, tasks, rule=settings.extract)
    asked = asked_tasks(tasks, loaded, **settings.chosen)
    samples = choose_samples(everything, asked, level=settings.level)
    seed = settings.seed
    if not any(task.draws_inputs for task in tasks):
        seed = None
    elif seed is None:
        seed = inputs_seed(output)
    settings = settings.model_copy(update={"seed": seed})
    # Dozens of threads make system calls. After each call, a thread waits up to this many seconds until a thread that
    # computes gives up the interpreter lock. Python's default is 5 ms.
    sys.setswitchinterval(0.0005)
    judge = Bench(settings, "python" if isinstance(samples[0].task, ModuleTask) else "cuda")
    backend = judge.pipeline(jobs=settings.jobs, retries=settings.retry_infra)
    try:
        header = describe_run(
            answers_path=answers,
            answers=loaded,
            chosen=len(samples),
            tasks=asked,
            set_size=len(tasks),
            spec=judge.describe(),
            **settings.model_dump(include={"method", "level", "split", "extract"}),
        )
        if header["gpu_work_recorded"] not in (None, "yes"):
            typer.echo(f"cuset: what programs do on the GPU is not recorded: {header['gpu_work_recorded']}", err=True)
        with Progress(total=len(samples), unit="sample", desc="judged") as bar:

            def progress(summary: Any) -> None:
                bar.set_postfix_str(_counts(summary), refresh=False)
                bar.update(summary.resumed + summary.judged - bar.n)

            kept = {"everything": everything, "progress": progress}
            summary = run(samples, backend, output, header=header, settings=judge.settings, **kept)
    except KeyboardInterrupt:
        typer.echo("\ncuset: what is running ends first; Ctrl-C once more stops it at once.", err=True)
        try:
            backend.join()
        except KeyboardInterrupt:
            os._exit(130)  # the supervisors notice that the judge is gone, and kill the programs that they watch
        raise
    finally:
        backend.stop()
    judged = f"{summary.judged} judged in {summary.seconds:.1f} s" if summary.judged else "nothing new to judge"
    before = f", {summary.resumed} taken from an earlier run" if summary.resumed else ""
    typer.echo(f"results: {output} ({judged}{before})\nverdicts: {_counts(summary)}")
    if missing := len({task.id for task in asked} - {sample.task.id for sample in samples}):
        typer.echo(
            f"tasks without an answer: {missing} of {len(asked)}; reports count them as failures. If sampling was cut off, run "
            "`cuset generate` again."
        )
    if overheads := summary.overheads:
        typer.echo(f"the judge's own time: {1e3 * median(overheads):.0f} ms a program (median of {len(overheads)})")
    if summary.infra:
        last = summary.message or "see their messages"
        text = f"the judge itself failed on {summary.infra} samples, the last time with: {last}"
        typer.echo(f"cuset: {text}. Run the same command again for them.", err=True)
        raise typer.Exit(3)


def _counts(summary: Any) -> str:
    """Return the verdicts with their counts, such as "passed 12, mismatch 3", the most common first."""
    return ", ".join(f"{verdict} {number}" for verdict, number in summary.verdicts.most_common() if number)
