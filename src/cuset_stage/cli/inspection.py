"""`cuset doctor | spans | label | heatmap | analyze`: look at the parts of a training.

They show whether the environment works, what the CUDA mask covers, what a data set holds, and how sure a model is of
each token.
"""

import json
import sys
from pathlib import Path
from typing import Annotated, ClassVar

import typer
from pydantic import Field

from ..analysis.requests import DEFAULT_KINDS, Aliases, AnalyzeSettings, HeatmapSettings, LabelSettings, Language
from ..files import write_atomically
from ..project.template import difference
from ..settings import Names, Settings, check_datasets, check_writable
from ._app import app, command, fail


@app.command()
def doctor(as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False) -> None:
    """Check that `stage: cuset` works in this environment; the exit code is 1 when it does not."""
    from dataclasses import asdict

    from ..analysis.doctor import examine, print_findings

    if as_json:
        findings = list(examine())
        typer.echo(json.dumps([asdict(finding) for finding in findings], indent=2))
        works = all(finding.state != "fail" for finding in findings)
    else:
        works = print_findings(examine())
    if not works:
        raise typer.Exit(1)


class SpansSettings(Settings):
    positional: ClassVar[tuple[str, ...]] = ("files",)

    files: tuple[str, ...] = Field(description="files with an answer or code; - is standard input", min_length=1)
    kinds: Names = Field(
        DEFAULT_KINDS,
        description="kinds of span, or all: kernel_body, launch_config (the paper's mask), kernel_signature, device_function, "
        "shared_memory, thread_indexing, synchronization, atomic, warp_intrinsic, memory_api, launch_setup",
    )
    aliases: Aliases = ()
    language: Language = "cuda"
    as_json: bool = Field(False, description="print JSON")


@command(app, "spans", SpansSettings)
def spans(settings: SpansSettings) -> None:
    """Print the CUDA-sensitive spans of a text: what the CUDA mask covers."""
    from ..analysis.span_table import locate, print_spans
    from ..spans import KINDS, find_spans

    wanted = tuple(KINDS) if settings.kinds == ("all",) else settings.kinds
    results = []
    for name in settings.files:
        try:
            # Read bytes, because reading as text would change the line ends, which the offsets count.
            data = sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()
            text = data.decode("utf-8", errors="replace")
            text_spans = find_spans(text, wanted, aliases=settings.aliases, language=settings.language)
        except OSError as error:
            raise fail(f"cannot read {name}: {error.strerror}; give a file, or - for standard input.") from None
        except ValueError as error:
            raise fail(str(error)) from None
        results.append((name, text, text_spans))

    if settings.as_json:
        entries = [{"file": name, "spans": locate(text, text_spans)} for name, text, text_spans in results]
        typer.echo(json.dumps(entries, indent=2))
    else:
        for name, text, text_spans in results:
            print_spans(name, text, text_spans)


def _note_template(settings: LabelSettings | HeatmapSettings) -> None:
    """Warn if the model's own chat template writes something else than the chosen one."""
    if note := difference(settings.model, settings.template):
        typer.echo(f"cuset: {note}", err=True)


@command(app, "label", LabelSettings)
def label(settings: LabelSettings) -> None:
    """Show how much of a data set is CUDA, and what truncation drops, with the labels of training.

    The exit code is 1 when not one CUDA token is found.
    """
    check_datasets(settings.dataset, settings.dataset_dir)
    from ..analysis.labels import figures, render, summarise

    to_stdout = settings.numbers == Path("-")
    paths = {"output": settings.output, "numbers": None if to_stdout else settings.numbers}
    files = {key: path for key, path in paths.items() if path is not None}
    for key, path in files.items():
        check_writable(key, path)
    record, examples = summarise(settings)
    _note_template(settings)
    text = json.dumps(record, indent=2) + "\n"
    lines = [text.rstrip()] if to_stdout else [f"{name}: {value}" for name, value in figures(record)]
    for key, path in files.items():
        write_atomically(path, render(record, examples) if key == "output" else text)
        lines += [] if to_stdout else [f"written: {path}"]
    typer.echo("\n".join(lines))
    if not record["cuda_tokens"]:
        problem = "not one CUDA token" if record["supervised_tokens"] else "not one row with a response"
        fix = "check that the responses hold kernels, and the columns in dataset_info.json."
        typer.echo(f"cuset: {problem}; {fix}", err=True)
        raise typer.Exit(1)


@command(app, "heatmap", HeatmapSettings)
def heatmap(settings: HeatmapSettings) -> None:
    """Draw how sure a model is of each token of a few samples, before and after training."""
    check_writable("output", settings.output)  # before torch is imported
    check_datasets(settings.dataset, settings.dataset_dir)
    from ..analysis.confidence import collect
    from ..analysis.heatmap import numbers, render, summary_table
    from ..report.cells import print_table

    settings = settings.as_trained()
    samples = collect(settings)
    _note_template(settings)
    write_atomically(settings.output, render(samples, settings))
    print_table(summary_table(samples, settings))
    typer.echo(f"page: {settings.output}")
    if settings.numbers:
        path = settings.output.with_suffix(".json")
        write_atomically(path, json.dumps(numbers(samples, settings)) + "\n")
        typer.echo(f"numbers: {path}")


@command(app, "analyze", AnalyzeSettings)
def analyze(settings: AnalyzeSettings) -> None:
    """Measure how sure models are of CUDA-sensitive and neutral tokens, and where their confidence is low.

    This makes the paper's figure 1, and the numbers of figure 2.
    """
    check_writable("output", settings.output / "confidence.json")  # before torch is imported
    check_datasets(settings.dataset, settings.dataset_dir)
    from ..analysis.analyze import analyze as measure
    from ..analysis.analyze_page import draw, print_summary, render

    record = measure(settings)
    numbers, page, picture = (settings.output / name for name in ("confidence.json", "confidence.html", "tokens.png"))
    write_atomically(numbers, json.dumps(record, indent=1) + "\n")
    picture.write_bytes(drawn := draw(record))
    write_atomically(page, render(record, drawn))
    print_summary(record)
    for path in (page, numbers, picture):
        typer.echo(str(path))
