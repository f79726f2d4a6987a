"""`cuset version | doctor | spans | heatmap`: what is installed, what the mask covers, what a model is sure of."""

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from ._app import app, fail, names


@app.command()
def version() -> None:
    """Print the version of cuset-stage."""
    from .. import __version__

    typer.echo(__version__)


@app.command()
def doctor() -> None:
    """Check that `stage: cuset` works in this environment; the exit code is 1 when it does not."""
    from ..analysis.doctor import examine
    from ..analysis.terminal import print_findings

    findings = examine()
    print_findings(findings)
    if any(finding.state == "fail" for finding in findings):
        raise typer.Exit(1)


@app.command()
def spans(
    files: Annotated[list[str], typer.Argument(help="Files with an answer or code; - is standard input.")],
    kinds: Annotated[
        str,
        typer.Option(
            help="Kinds of span, comma-separated, or all: kernel_body, launch_config (the paper's mask), kernel_signature, "
            "device_function, shared_memory, thread_indexing, synchronization, atomic, warp_intrinsic, memory_api, launch_setup."
        ),
    ] = "kernel_body,launch_config",
    aliases: Annotated[str, typer.Option(help="Further macros that stand for __global__, comma-separated.")] = "",
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Print the CUDA-sensitive spans of a text: what the CUDA mask covers."""
    from ..analysis.terminal import locate, print_spans
    from ..spans import KINDS, find_spans

    wanted = tuple(KINDS) if kinds.strip() == "all" else names(kinds)
    results = []
    for name in files:
        try:
            # newline="": line ends are characters that offsets count
            if name == "-":
                text = sys.stdin.buffer.read().decode("utf-8", errors="replace")
            else:
                text = Path(name).read_bytes().decode("utf-8", errors="replace")
        except OSError as error:
            raise fail(f"cannot read {name}: {error.strerror}. Give a file, or - for standard input.") from None
        try:
            found = find_spans(text, wanted, aliases=names(aliases))
        except ValueError as error:
            raise fail(str(error)) from None
        results.append((name, text, found))

    if as_json:
        typer.echo(
            json.dumps([{"file": name, "spans": locate(text, found)} for name, text, found in results], indent=2)
        )
    else:
        for name, text, found in results:
            print_spans(name, text, found)


@app.command()
def heatmap(
    model: Annotated[
        str, typer.Option(help="The trained model, or with --adapter its base: a folder or a name on the Hub.")
    ],
    dataset: Annotated[str, typer.Option(help="Names in dataset_info.json, comma-separated.")],
    output: Annotated[Path, typer.Option(help="The HTML page to write.")],
    adapter: Annotated[str | None, typer.Option(help="A LoRA adapter on the model.")] = None,
    before: Annotated[
        str | None,
        typer.Option("--before", help="The model before training. With --adapter it is the base unless given."),
    ] = None,
    compare: Annotated[
        bool, typer.Option("--compare/--no-before", help="Show the model before training beside it, when it is known.")
    ] = True,
    dataset_dir: Annotated[str, typer.Option(help="The folder with dataset_info.json.")] = "data",
    template: Annotated[str, typer.Option(help="LLaMA-Factory's chat template, as in the recipe.")] = "qwen",
    samples: Annotated[int, typer.Option(help="Rows to take from the head of each data set.")] = 3,
    cutoff_len: Annotated[int, typer.Option(help="Tokens a row is cut to, as in the recipe.")] = 4096,
    window: Annotated[int, typer.Option(help="Window length l in tokens, as cuset_window.")] = 256,
    tau: Annotated[float, typer.Option(help="Confidence threshold, as cuset_tau.")] = 0.1,
    kinds: Annotated[str, typer.Option(help="Kinds of span the CUDA mask covers, as cuset_sensitive_kinds.")] = (
        "kernel_body,launch_config"
    ),
    device: Annotated[str, typer.Option(help="auto, cpu, cuda:0, ...")] = "auto",
    trust_remote_code: Annotated[bool, typer.Option(help="Run code that comes with the model.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Write the numbers as JSON beside the page.")] = False,
) -> None:
    """Draw how sure a model is of each token of a few samples, before and after training."""
    from ..analysis.collect import AnalysisError, Request, check_request

    if output.is_dir():
        raise fail(f"--output {output}: this is a folder; give the name of a file, such as {output / 'heatmap.html'}.")
    if not compare and before is not None:
        raise fail("--before and --no-before contradict each other: leave one out.")
    request = Request(
        model=model,
        datasets=names(dataset),
        dataset_dir=dataset_dir,
        adapter=adapter,
        before=before,
        compare=compare,
        template=template,
        samples=samples,
        cutoff_len=cutoff_len,
        window=window,
        tau=tau,
        kinds=names(kinds),
        device=device,
        trust_remote_code=trust_remote_code,
    )
    try:
        check_request(request)  # before the imports, which take seconds
        from ..analysis.terminal import collect_with_progress

        page = collect_with_progress(request)
    except AnalysisError as error:
        raise fail(str(error)) from None

    from ..analysis.heatmap import render
    from ..analysis.page_data import as_json as page_as_json
    from ..analysis.terminal import print_summary

    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_text(render(page), encoding="utf-8", newline="\n")
    print_summary(page)
    typer.echo(f"page: {output}")
    if as_json:
        numbers = output.with_suffix(".json")
        numbers.write_text(json.dumps(page_as_json(page)) + "\n", encoding="utf-8")
        typer.echo(f"numbers: {numbers}")
