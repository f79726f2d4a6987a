"""`cuset evaluate`: judge a model's answers."""

import os
import shlex
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from ._app import app, fail, names


@app.command()
def evaluate(
    answers: Annotated[
        Path, typer.Argument(help="The answers: a JSONL file, or a folder with <task>/<sample>.cu or .md.")
    ],
    tasks: Annotated[Path, typer.Option(help="The task set: CUDABench's JSONL, our own, or KernelBench's folder.")],
    output: Annotated[Path, typer.Option(help="The results file (JSONL); a run that was stopped goes on in it.")],
    method: Annotated[str | None, typer.Option(help="What reports call these answers, such as sft or cuset.")] = None,
    task_format: Annotated[str, typer.Option("--format", help="auto, cudabench, cuset or kernelbench.")] = "auto",
    split: Annotated[str | None, typer.Option(help="Only answers to tasks of this split.")] = None,
    level: Annotated[int | None, typer.Option(help="Only answers to prompts of this level, 1 to 3.")] = None,
    extract: Annotated[
        str, typer.Option(help="Which block of an answer is the code: first, last or first-any (CUDABench's rule).")
    ] = "first",
    compile_only: Annotated[
        bool, typer.Option("--compile-only", help="Only say what compiles; needs no GPU.")
    ] = False,
    arch: Annotated[str | None, typer.Option(help="nvcc's -arch; without it that of the GPUs, else sm_90.")] = None,
    flags: Annotated[str, typer.Option(help="nvcc's further options.")] = "-O3 -std=c++17",
    jobs: Annotated[int | None, typer.Option(help="Compilations at a time; without it one a CPU.")] = None,
    gpus: Annotated[str | None, typer.Option(help="GPUs to use, as nvidia-smi numbers them, such as 0,1.")] = None,
    per_gpu: Annotated[
        int,
        typer.Option(
            help="Programs at a time on a GPU; with more than 1, times say nothing, and what fails is run again alone."
        ),
    ] = 1,
    no_gpu: Annotated[bool, typer.Option("--no-gpu", help="Run programs without a GPU: host code only.")] = False,
    isolation: Annotated[str, typer.Option(help="auto, bubblewrap or processes.")] = "auto",
    time_limit: Annotated[
        float | None, typer.Option(help="Seconds a run of a program may take; without it 60 (modules: 300).")
    ] = None,
    memory_limit: Annotated[
        float | None, typer.Option(help="GiB of host memory for a program; without it 8 (modules: 64).")
    ] = None,
    gpu_memory: Annotated[
        float | None, typer.Option(help="GiB of GPU memory for a program, watched each second; without it no limit.")
    ] = None,
    limit: Annotated[int | None, typer.Option(help="Only the first so many answers.")] = None,
    retry_infra: Annotated[int, typer.Option(help="Further tries when the judge's own side fails.")] = 2,
    ray: Annotated[
        bool, typer.Option("--ray", help="Judge on every machine of the Ray cluster at RAY_ADDRESS.")
    ] = False,
) -> None:
    """Compile and run each answer on its task's inputs, and write a verdict a sample.

    Results are written as they come. The same command again goes on where a run ended and judges anew only what changed:
    the answer's code, the task, the flags, the limits. The exit code is 3 when the judge itself failed on some samples
    (infra_error: no space, a lost GPU): those are not charged to the model, and the same command judges them again.
    """
    from ..answers import ExtractRule
    from ..judge.judge_spec import GIB, JudgeSpec
    from ..judge.results import ResultsError
    from ..judge.run_header import describe_run
    from ..judge.runner import choose_samples, make_samples
    from ..judge.runner import evaluate as run
    from ..sandbox import Isolation, SandboxError
    from ..tasks import TaskError, load_tasks
    from ..tasks.answers_file import AnswersError, read_answers

    for option, value in (("--jobs", jobs), ("--per-gpu", per_gpu), ("--limit", limit)):
        if value is not None and value < 1:
            raise fail(f"{option} {value}: at least 1.")
    # A day and a pebibyte are beyond all use, and what is not finite fits into no record. Below a mebibyte nothing starts.
    for option, value, least, most, unit in (
        ("--time-limit", time_limit, 0.001, 86400, "seconds"),
        ("--memory-limit", memory_limit, 1 / 1024, 2**20, "GiB"),
        ("--gpu-memory", gpu_memory, 1 / 1024, 2**20, "GiB"),
    ):
        if value is not None and not least <= value <= most:
            raise fail(f"{option} {value:g}: from {least:g} to {most} {unit}.")
    if retry_infra < 0:
        raise fail(f"--retry-infra {retry_infra}: 0 or more.")
    if extract not in tuple(ExtractRule):
        raise fail(f"--extract {extract}: one of {', '.join(ExtractRule)}.")
    if isolation not in tuple(Isolation):
        raise fail(f"--isolation {isolation}: one of {', '.join(Isolation)}.")
    if gpus is not None and (no_gpu or compile_only):
        raise fail(f"--gpus and {'--no-gpu' if no_gpu else '--compile-only'} contradict each other: leave one out.")
    if output.is_dir():
        raise fail(
            f"--output {output}: this is a folder; give the name of a file, such as {output / 'results.jsonl'}."
        )
    if output.exists() and answers.exists() and output.samefile(answers):
        raise fail(f"--output {output}: this is the answers file; results go to another one.")
    try:
        spec = JudgeSpec(
            arch=arch,
            flags=tuple(shlex.split(flags)),
            compile_only=compile_only,
            use_gpu=not no_gpu,
            gpus=_indices(gpus),
            per_gpu=per_gpu,
            isolation=Isolation(isolation),
            time_limit_s=time_limit,
            memory_bytes=None if memory_limit is None else int(memory_limit * GIB),
            gpu_memory_bytes=None if gpu_memory is None else int(gpu_memory * GIB),
        )
    except ValueError as error:
        raise fail(f"--flags {flags}: {error}.") from None
    backend = None
    try:
        task_set = load_tasks(tasks, format=task_format)
        found = read_answers(answers)
        if not found:
            raise fail(
                f"{answers}: no answers in this file; expected an object a line, as `cuset generate` writes them."
            )
        everything = make_samples(found, task_set, rule=ExtractRule(extract))
        chosen = choose_samples(everything, task_set, split=split, level=level)
        samples = chosen[:limit]
        languages = sorted({sample.task.language for sample in samples})
        backend, judge = _open_backend(spec, languages, jobs, retry_infra, ray)
        audited, findings, notes = _findings([task for task in task_set if split is None or task.split == split])
        header = describe_run(
            answers_path=answers, answers=found, chosen=len(chosen), tasks=task_set, spec=judge.describe(), method=method,
            level=level, split=split, extract=extract, findings=findings, notes=notes, audited=audited,
        )  # fmt: skip
        with _Progress(len(samples)) as progress:
            summary = run(
                samples, backend, output, header=header, settings=judge.settings,
                everything=everything, progress=progress,
            )  # fmt: skip
    except (TaskError, AnswersError, ResultsError, SandboxError) as error:
        raise fail(str(error)) from None
    except KeyboardInterrupt:
        _wind_up(backend)
        typer.echo(
            f"cuset: stopped; {output} keeps what is judged, and the same command goes on from there.", err=True
        )
        raise typer.Exit(130) from None
    finally:
        if backend is not None:
            backend.stop()
    _print_summary(summary, output)
    if summary.infra:
        typer.echo(
            f"cuset: the judge itself failed on {summary.infra} samples, the last time with: "
            f"{summary.message or 'see their messages'}. Run the same command again for them.",
            err=True,
        )
        raise typer.Exit(3)


def _indices(gpus: str | None) -> tuple[int, ...] | None:
    if gpus is None:
        return None
    parts = names(gpus)
    if not parts or not all(part.isdecimal() for part in parts):
        raise fail(f"--gpus {gpus}: numbers separated by commas, such as 0,1.")
    return tuple(map(int, parts))


def _open_backend(spec: Any, languages: list[str], jobs: int | None, retries: int, ray: bool) -> tuple[Any, Any]:
    """What judges, and what knows how: `describe()` and `settings`."""
    if ray:
        from ..judge.distributed import RayBackend

        backend = RayBackend(spec, languages, jobs=jobs, retries=retries)
        return backend, backend
    from ..judge.judge_spec import Bench
    from ..judge.pipeline import Pipeline

    bench = Bench(spec, languages)
    jobs = jobs or len(os.sched_getaffinity(0))
    runs = 2 * len(bench.pool) if bench.pool else jobs  # one compares while the other's program runs
    return Pipeline(bench.judges, jobs=jobs, runs=runs, retries=retries), bench


def _findings(tasks: list[Any]) -> tuple[int, dict[str, list[str]], dict[str, dict[str, str]]]:
    """How many of the tasks `cuset audit-tasks` has seen, task -> what it found, and code -> task -> what it notes besides."""
    from ..judge.audit import load_audit

    audits = [audit for task in tasks if (audit := load_audit(task)) is not None]
    findings = {audit.task: [finding.message for finding in audit.flagged] for audit in audits if audit.flagged}
    notes: dict[str, dict[str, str]] = {}
    for audit in audits:
        for note in audit.notes:
            notes.setdefault(note.code, {})[audit.task] = note.message
    return len(audits), findings, notes


def _wind_up(backend: Any) -> None:
    """Wait for what is running; a second Ctrl-C ends it at once."""
    if backend is None:
        return
    typer.echo("\ncuset: what is running ends first; Ctrl-C once more stops it at once.", err=True)
    try:
        backend.join()
    except KeyboardInterrupt:
        os._exit(130)  # the supervisors see that the judge is gone, and kill what they watch


class _Progress:
    """A bar with counts by verdict."""

    def __init__(self, total: int) -> None:
        from tqdm import tqdm

        self._bar = tqdm(total=total, unit="sample", desc="judged", file=sys.stderr, dynamic_ncols=True)

    def __call__(self, summary: Any) -> None:
        self._bar.set_postfix_str(counts(summary), refresh=False)
        self._bar.update(summary.done - self._bar.n)

    def __enter__(self) -> "_Progress":
        return self

    def __exit__(self, *error: object) -> None:
        self._bar.close()


def counts(summary: Any) -> str:
    """ "passed 12, mismatch 3": the commonest first."""
    return ", ".join(f"{verdict} {number}" for verdict, number in summary.verdicts.most_common() if number)


def _print_summary(summary: Any, output: Path) -> None:
    judged = f"{summary.judged} judged in {summary.seconds:.1f} s" if summary.judged else "nothing new to judge"
    before = f", {summary.resumed} taken from an earlier run" if summary.resumed else ""
    typer.echo(f"results: {output} ({judged}{before})")
    typer.echo(f"verdicts: {counts(summary)}")
    if summary.overhead_s is not None:
        typer.echo(f"the judge's own time: {1e3 * summary.overhead_s:.0f} ms a program (median of {summary.programs})")
