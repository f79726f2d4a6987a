"""`cuset curate`: from kernels found anywhere to a verified training set, a stage at a time or all in one go."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from ._app import app, fail, names


curate = typer.Typer(
    help="Make a training set from kernels found anywhere: import, adapt, cases, verify, select, write. Every stage keeps its rows, "
    "what it dropped and why in a folder of its own, and goes on where it was stopped.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
app.add_typer(curate, name="curate")

Folder = Annotated[Path, typer.Argument(help="The folder of this curation; each stage has a folder in it.")]
Input = Annotated[
    list[Path] | None,
    typer.Option("--input", help="Rows to take (JSONL) in place of the stage before; may be repeated."),
]
Fresh = Annotated[bool, typer.Option("--fresh", help="Throw this stage's earlier results away.")]
Workers = Annotated[int | None, typer.Option(help="Rows at a time; without it as many as there are CPUs.")]
Where = Annotated[str, typer.Option("--executor", help="inline, threads, or ray (a cluster, when Ray is installed).")]
Preset = Annotated[
    str | None,
    typer.Option(
        help="Columns of a known data set: babeltower, regrapht, kernelbook, ai-cuda-engineer, concur, cudabench, kernelbench; "
        "cuset: a file of our own tasks."
    ),
]
Licence = Annotated[str | None, typer.Option(help="What applies where a row and its source state no licence.")]
Allow = Annotated[
    str,
    typer.Option("--allow", help="Licences to take, comma-separated SPDX identifiers; without it every known one."),
]
AllowUnknown = Annotated[bool, typer.Option("--allow-unknown", help="Take rows whose licence is not known, too.")]
Cache = Annotated[Path | None, typer.Option(help="Folder for prepared cases and compiled programs.")]
Endpoint = Annotated[
    str | None, typer.Option(help="OpenAI-compatible server that writes missing cases and references.")
]
Model = Annotated[str | None, typer.Option(help="The name under which the endpoint serves the model.")]
KeyEnv = Annotated[str, typer.Option(help="The environment variable with the endpoint's API key.")]
Timeout = Annotated[float, typer.Option(help="Seconds a request to the endpoint may take.")]
Retries = Annotated[int, typer.Option(help="Further tries of a request that fails.")]
NoGpu = Annotated[
    bool, typer.Option("--no-gpu", help="Run without a GPU: host programs, and those that fall back to the CPU.")
]
CompileOnly = Annotated[
    bool, typer.Option("--compile-only", help="Only compile: nothing is run, and rows are marked as not verified.")
]
Mutants = Annotated[int, typer.Option(help="Wrong versions of a program to try until its cases find one; 0: none.")]
PerGpu = Annotated[int, typer.Option(help="Programs at a time on one GPU; with more than one, times say nothing.")]
Arch = Annotated[str | None, typer.Option(help="nvcc's -arch; without it the GPU's own.")]
Isolation = Annotated[str, typer.Option(help="auto, bubblewrap or processes.")]
Against = Annotated[
    list[str] | None,
    typer.Option(
        "--against", help="name=path of a benchmark (your own copy) that no row may come from; may be repeated."
    ),
]
PerTask = Annotated[int | None, typer.Option(help="Most answers to one task, the best by --reward.")]
Reward = Annotated[
    str,
    typer.Option(
        help="How --per-task ranks answers: kevin (0.3 when right, plus the speed-up) or grpo (0.5 when it compiles, 1 when right, "
        "half the speed-up up to 3). The speed-up is what verify measured, of a module over PyTorch, of a program over the median time of the "
        "answers to its task; with --per-gpu over 1, or --compile-only, there is none."
    ),
]
PerFamily = Annotated[int | None, typer.Option(help="Most rows of a family, spread over its lengths.")]
Concur = Annotated[
    bool,
    typer.Option(
        "--concur",
        help="Of right answers with reasoning keep what ConCuR keeps: the shortest where it is the fastest as well, those more than "
        "5 x faster than the baseline, and of a task of a single operator the shortest. Rows whose speed-up verify did not measure stay: "
        "programs, which have no baseline, and modules without a GPU.",
    ),
]
Near = Annotated[
    float, typer.Option(help="Jaccard similarity from which a program is a duplicate; 1: only equal ones.")
]
Cutoff = Annotated[int, typer.Option(help="cutoff_len of the training run.")]
Tokenizer = Annotated[str | None, typer.Option(help="Counts tokens: a folder or a Hub name; without it an estimate.")]
DropLong = Annotated[bool, typer.Option("--drop-long", help="Leave rows out that are longer than --cutoff-len.")]
Output = Annotated[Path | None, typer.Option(help="LLaMA-Factory's dataset_dir; without it <folder>/dataset.")]
Name = Annotated[str, typer.Option(help="The data set's name in dataset_info.json.")]
Formats = Annotated[str, typer.Option(help="alpaca, sharegpt, or both.")]
Validation = Annotated[float, typer.Option(help="Share of the tasks that go to validation.")]
Reasoning = Annotated[bool, typer.Option("--reasoning", help="Put a row's reasoning before its answer.")]
CountReasoning = Annotated[
    bool,
    typer.Option("--reasoning", help="Count a row's reasoning in its length, as write --reasoning will put it there."),
]
Columns = Annotated[str, typer.Option("--map", help="Columns, as in code=cuda_code,prompt=question.")]
SourceFormat = Annotated[str | None, typer.Option("--format", help="jsonl, json, parquet, arrow, tree or tasks.")]
Revision = Annotated[str | None, typer.Option(help="Commit or version; without it the checkout's commit.")]


@curate.command("import")
def import_(
    folder: Folder,
    source: Annotated[
        Path, typer.Argument(help="A file (JSONL, JSON, Parquet, Arrow) or a folder with .cu files, tasks or shards.")
    ],
    name: Annotated[str | None, typer.Option(help="What its rows are called after.")] = None,
    preset: Preset = None,
    columns: Columns = "",
    source_format: SourceFormat = None,
    revision: Revision = None,
    licence: Licence = None,
    allow: Allow = "",
    allow_unknown: AllowUnknown = False,
    suffixes: Annotated[str, typer.Option(help="Endings of a tree's source files.")] = ".cu",
    fresh: Fresh = False,
) -> None:
    """Read a source on this machine; nothing is downloaded. May be run for several sources."""

    def work() -> Any:
        from ..curate.columns import parse_map
        from ..curate.importing import Source, run_import

        given = Source(
            source,
            name,
            source_format,
            preset,
            parse_map(columns),
            revision,
            licence,
            names(allow),
            allow_unknown,
            names(suffixes),
        )
        return run_import(folder, given, fresh=fresh)

    _run(work)


@curate.command()
def adapt(folder: Folder, inputs: Input = None, fresh: Fresh = False) -> None:
    """Put a harness around what is no whole program."""

    def work() -> Any:
        from ..curate.adapt import run_adapt

        return run_adapt(folder, _files(folder, "import", inputs), fresh=fresh)

    _run(work)


@curate.command()
def cases(
    folder: Folder,
    inputs: Input = None,
    endpoint: Endpoint = None,
    model: Model = None,
    api_key_env: KeyEnv = "OPENAI_API_KEY",
    timeout: Timeout = 300.0,
    retries: Retries = 3,
    cache: Cache = None,
    isolation: Isolation = "auto",
    executor: Where = "threads",
    workers: Workers = None,
    fresh: Fresh = False,
) -> None:
    """Give every program five sets of inputs and a reference that is not the kernel itself."""
    _run(
        lambda: _cases(
            folder, inputs, endpoint, model, api_key_env, timeout, retries, cache, isolation, executor, workers, fresh
        )
    )


@curate.command()
def verify(
    folder: Folder,
    inputs: Input = None,
    no_gpu: NoGpu = False,
    compile_only: CompileOnly = False,
    times: Annotated[int, typer.Option(help="Runs of every case.")] = 2,
    mutants: Mutants = 6,
    per_gpu: PerGpu = 1,
    arch: Arch = None,
    cache: Cache = None,
    isolation: Isolation = "auto",
    executor: Where = "threads",
    workers: Workers = None,
    fresh: Fresh = False,
) -> None:
    """Compile every program and run every case twice in the judge's sandbox; keep what passes. Can be killed and taken up."""
    _run(
        lambda: _verify(
            folder,
            inputs,
            no_gpu,
            compile_only,
            times,
            mutants,
            per_gpu,
            arch,
            cache,
            isolation,
            executor,
            workers,
            fresh,
        )
    )


@curate.command()
def select(
    folder: Folder,
    inputs: Input = None,
    against: Against = None,
    near: Near = 0.7,
    concur: Concur = False,
    per_task: PerTask = None,
    reward: Reward = "kevin",
    per_family: PerFamily = None,
    cutoff_len: Cutoff = 4096,
    tokenizer: Tokenizer = None,
    drop_long: DropLong = False,
    reasoning: CountReasoning = False,
) -> None:
    """Remove duplicates and rows from benchmarks; keep the best, in balance; report lengths."""
    selection = dict(
        near=near, concur=concur, per_task=per_task, reward=reward, per_family=per_family, cutoff_len=cutoff_len,
        tokenizer=tokenizer, drop_long=drop_long, reasoning=reasoning,
    )  # fmt: skip
    _run(lambda: _select(folder, inputs, against, selection))


@curate.command()
def write(
    folder: Folder,
    inputs: Input = None,
    output: Output = None,
    name: Name = "curated",
    formats: Formats = "alpaca,sharegpt",
    validation: Validation = 0.05,
    reasoning: Reasoning = False,
    cutoff_len: Cutoff = 4096,
    tokenizer: Tokenizer = None,
) -> None:
    """Write LLaMA-Factory data with its dataset_info.json entry and a data card, split by task."""
    _run(lambda: _write(folder, inputs, output, name, formats, validation, reasoning, cutoff_len, tokenizer))


@curate.command()
def run(
    folder: Folder,
    source: Annotated[list[str], typer.Option(help="A source as for import; name=path names it. May be repeated.")],
    preset: Preset = None,
    columns: Columns = "",
    source_format: SourceFormat = None,
    revision: Revision = None,
    licence: Licence = None,
    allow: Allow = "",
    allow_unknown: AllowUnknown = False,
    endpoint: Endpoint = None,
    model: Model = None,
    api_key_env: KeyEnv = "OPENAI_API_KEY",
    timeout: Timeout = 300.0,
    retries: Retries = 3,
    no_gpu: NoGpu = False,
    compile_only: CompileOnly = False,
    mutants: Mutants = 6,
    per_gpu: PerGpu = 1,
    arch: Arch = None,
    against: Against = None,
    near: Near = 0.7,
    concur: Concur = False,
    per_task: PerTask = None,
    reward: Reward = "kevin",
    per_family: PerFamily = None,
    cutoff_len: Cutoff = 4096,
    tokenizer: Tokenizer = None,
    drop_long: DropLong = False,
    output: Output = None,
    name: Name = "curated",
    formats: Formats = "alpaca,sharegpt",
    validation: Validation = 0.05,
    reasoning: Reasoning = False,
    cache: Cache = None,
    isolation: Isolation = "auto",
    executor: Where = "threads",
    workers: Workers = None,
    fresh: Fresh = False,
) -> None:
    """All stages, one after the other, and the funnel. Stopped at any point, the same command goes on."""
    selection = dict(
        near=near, concur=concur, per_task=per_task, reward=reward, per_family=per_family, cutoff_len=cutoff_len,
        tokenizer=tokenizer, drop_long=drop_long, reasoning=reasoning,
    )  # fmt: skip

    def import_all() -> Any:
        from ..curate.columns import parse_map
        from ..curate.contamination import parse_against, read_benchmarks
        from ..curate.importing import Source, run_import
        from ..curate.inputs import only_sources
        from ..curate.stage_rows import CurationError

        for option, given_value in (("--map", columns), ("--format", source_format), ("--revision", revision)):
            if given_value and len(source) > 1:
                raise CurationError(
                    f"{option} {given_value}: it is of one source, and {len(source)} are given; bring each in with "
                    "`cuset curate import`, and go on with `cuset curate adapt`."
                )
        read_benchmarks(
            parse_against(against or [])
        )  # what cannot be read is better known now than after hours of running
        sources: dict[str, Source] = {}
        for value in source:
            label, sign, path = value.partition("=")
            given = Source(
                Path(path if sign else value), label if sign else None, source_format, preset, parse_map(columns), revision,
                licence, names(allow), allow_unknown,
            )  # fmt: skip
            if given.label in sources:
                raise CurationError(
                    f"--source {value}: {given.label} is given twice; give each its own name, as in second={path or value}."
                )
            sources[given.label] = given
        only_sources(folder, sources, fresh=fresh)
        for given in sources.values():
            _report(run_import(folder, given, fresh=fresh))

    def adapt_all() -> Any:
        from ..curate.adapt import run_adapt

        return run_adapt(folder, _files(folder, "import", None), fresh=fresh)

    steps: list[Callable[[], Any]] = [
        import_all,
        adapt_all,
        lambda: _cases(
            folder, None, endpoint, model, api_key_env, timeout, retries, cache, isolation, executor, workers, fresh
        ),
        lambda: _verify(
            folder, None, no_gpu, compile_only, 2, mutants, per_gpu, arch, cache, isolation, executor, workers, fresh
        ),
        lambda: _select(folder, None, against, selection),
        lambda: _write(folder, None, output, name, formats, validation, reasoning, cutoff_len, tokenizer),
    ]
    for step in steps:
        _run(step)
    funnel(folder)
    typer.echo(f"data card: {(output or folder / 'dataset') / f'{name}.md'}")


@curate.command()
def funnel(folder: Folder, as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False) -> None:
    """How many rows every stage kept, and why the others went."""
    import json

    from ..curate.funnel import as_records, print_funnel, read_funnel
    from ..curate.stage_rows import CurationError

    try:
        steps = read_funnel(folder)
    except CurationError as error:
        raise fail(str(error)) from None
    if as_json:
        typer.echo(json.dumps(as_records(steps), indent=2))
    else:
        print_funnel(steps)


def _files(folder: Path, stage: str, inputs: list[Path] | None) -> list[Path]:
    from ..curate.stage import stage_files
    from ..curate.stage_rows import CurationError

    for path in inputs or ():
        if not path.is_file():
            raise CurationError(f"--input {path}: there is no such file; give JSONL that a stage wrote.")
    return list(inputs) if inputs else stage_files(folder, stage)


def _cases(
    folder: Path, inputs: list[Path] | None, endpoint: str | None, model: str | None, api_key_env: str, timeout: float, retries: int,
    cache: Path | None, isolation: str, executor: str, workers: int | None, fresh: bool,
) -> Any:  # fmt: skip
    from ..curate.asking import Asker
    from ..curate.cases import CaseSettings, run_cases
    from ..generate.endpoint import base_url

    if (endpoint is None) != (model is None):
        raise fail("--endpoint and --model belong together: where to ask, and for which model.")
    asker = None
    if endpoint is not None and model is not None:
        key = os.environ.get(api_key_env)
        if key is None and api_key_env != "OPENAI_API_KEY":
            raise fail(f"--api-key-env {api_key_env}: this environment variable is not set.")
        asker = Asker(base_url(endpoint), model, key, timeout_s=timeout, retries=retries)
    return run_cases(
        folder,
        _files(folder, "adapt", inputs),
        asker=asker,
        settings=CaseSettings(cache=None if cache is None else cache / "cases", isolation=_isolation(isolation)),
        executor=_executor(executor),
        workers=workers,
        fresh=fresh,
    )


def _verify(
    folder: Path, inputs: list[Path] | None, no_gpu: bool, compile_only: bool, times: int, mutants: int, per_gpu: int, arch: str | None,
    cache: Path | None, isolation: str, executor: str, workers: int | None, fresh: bool,
) -> Any:  # fmt: skip
    from ..curate.verify import Verification, run_verify, with_cache

    wanted = Verification(
        use_gpu=not no_gpu,
        compile_only=compile_only,
        times=times,
        mutants=mutants,
        per_gpu=per_gpu,
        arch=arch,
        isolation=_isolation(isolation),
    )
    files = _files(folder, "cases", inputs)
    return run_verify(
        folder, files, with_cache(wanted, cache), executor=_executor(executor), workers=workers, fresh=fresh
    )


def _select(folder: Path, inputs: list[Path] | None, against: list[str] | None, options: dict[str, Any]) -> Any:
    """options: of `Selection`, by their names."""
    from ..curate.contamination import parse_against
    from ..curate.select import Selection, run_select

    return run_select(folder, _files(folder, "verify", inputs), Selection(**options), parse_against(against or []))


def _write(
    folder: Path, inputs: list[Path] | None, output: Path | None, name: str, formats: str, validation: float, reasoning: bool,
    cutoff_len: int, tokenizer: str | None,
) -> Any:  # fmt: skip
    from ..curate.write import Output as Written
    from ..curate.write import run_write

    target = Written(
        output or folder / "dataset",
        name,
        names(formats),
        validation,
        reasoning=reasoning,
        cutoff_len=cutoff_len,
        tokenizer=tokenizer,
    )
    return run_write(folder, _files(folder, "select", inputs), target)


def _executor(value: str) -> Any:
    from ..curate.parallel import Executor

    try:
        return Executor(value)
    except ValueError:
        raise fail(f"--executor {value}: one of {', '.join(Executor)}.") from None


def _isolation(value: str) -> Any:
    from ..sandbox import Isolation as Kind

    try:
        return Kind(value)
    except ValueError:
        raise fail(f"--isolation {value}: one of {', '.join(Kind)}.") from None


def _run(work: Callable[[], Any]) -> None:
    """A stage, with errors as sentences; what it did is printed."""
    import sqlite3

    from ..curate.stage_rows import CurationError
    from ..generate import GenerationError
    from ..sandbox import SandboxError

    try:
        summary = work()
    except (CurationError, GenerationError, SandboxError) as error:
        raise fail(str(error)) from None
    except OSError as error:
        raise fail(f"{error.filename or 'a file'}: {error.strerror}. What was done so far is kept.") from None
    except sqlite3.OperationalError as error:  # its temporary files are the only ones that we have it write
        raise fail(
            f"temporary files: {error}. They lie where SQLITE_TMPDIR or TMPDIR says, else in /var/tmp: give a folder with more room. "
            "What was done so far is kept."
        ) from None
    except KeyboardInterrupt:
        typer.echo("\ncuset: stopped; what is done is kept, and the same command goes on from there.", err=True)
        raise typer.Exit(130) from None
    if summary is not None:
        _report(summary)


def _report(summary: Any) -> None:
    label = f"{summary.stage} {summary.name}".strip()
    resumed = f" ({summary.resumed:,} of them before)" if summary.resumed else ""
    again = f", {summary.unsettled:,} to try again" if summary.unsettled else ""
    typer.echo(
        f"{label}: {summary.read:,} rows{resumed}, {summary.kept:,} kept, {summary.dropped:,} dropped{again}, {summary.seconds:.1f} s"
    )
    for reason, count in summary.reasons.items():
        typer.echo(f"  {reason}: {count:,}")
    for note in summary.notes:
        typer.echo(f"  note: {note}", err=True)
    for row in summary.unsettled_rows[:5]:
        typer.echo(f"  again: {row['file']}, row {row['row']}: {row['reason']}: {row['detail'][:300]}", err=True)
