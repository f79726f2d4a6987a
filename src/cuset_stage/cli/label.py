"""`cuset label`: a data set's labels before anyone trains."""

import json
from pathlib import Path
from typing import Annotated

import typer

from ._app import app, fail, names


@app.command()
def label(
    model: Annotated[str, typer.Option(help="A model's folder or Hub name; only its tokenizer is loaded.")],
    dataset: Annotated[str, typer.Option(help="Names in dataset_info.json, comma-separated.")],
    output: Annotated[Path | None, typer.Option(help="An HTML page to write.")] = None,
    as_json: Annotated[Path | None, typer.Option("--json", help="A JSON file to write; - is standard output.")] = None,
    dataset_dir: Annotated[str, typer.Option(help="The folder with dataset_info.json.")] = "data",
    template: Annotated[str, typer.Option(help="LLaMA-Factory's chat template, as in the recipe.")] = "qwen",
    cutoff_len: Annotated[int, typer.Option(help="Tokens a row is cut to, as in the recipe.")] = 4096,
    kinds: Annotated[str, typer.Option(help="Kinds of span the CUDA mask covers, as cuset_sensitive_kinds.")] = (
        "kernel_body,launch_config"
    ),
    aliases: Annotated[str, typer.Option(help="As cuset_kernel_aliases, comma-separated.")] = "",
    max_samples: Annotated[int | None, typer.Option(help="Only so many rows of each data set.")] = None,
    examples: Annotated[int, typer.Option(help="Rows that the page shows with their spans.")] = 5,
    workers: Annotated[int | None, typer.Option(help="Processes; without it one a CPU.")] = None,
    trust_remote_code: Annotated[bool, typer.Option(help="Run code that comes with the tokenizer.")] = False,
) -> None:
    """Show how much of a data set is CUDA, and what cutoff_len takes, labelled as training would.

    The exit code is 1 when not one CUDA token is found.
    """
    from ..analysis.collect import AnalysisError
    from ..analysis.labels import LabelRequest, summarise

    for option, path in (("--output", output), ("--json", as_json)):
        if path is not None and path.is_dir():
            raise fail(f"{option} {path}: this is a folder; give the name of a file.")
    try:
        request = LabelRequest(
            model=model,
            datasets=names(dataset),
            dataset_dir=dataset_dir,
            template=template,
            cutoff_len=cutoff_len,
            kinds=names(kinds),
            aliases=names(aliases),
            max_samples=max_samples,
            examples=examples,
            workers=workers,
            trust_remote_code=trust_remote_code,
        )
        from tqdm import tqdm

        with tqdm(unit="row", desc="labels", disable=None) as bar:

            def progress(done: int, total: int) -> None:
                bar.total = total
                bar.update(done - bar.n)

            summary = summarise(request, progress)
    except AnalysisError as error:
        raise fail(str(error)) from None

    from ..analysis.label_page import figures, render

    record = summary.as_json()
    try:
        if output is not None:
            output.parent.mkdir(parents=True, exist_ok=True)
            output.write_text(render(summary), encoding="utf-8", errors="replace", newline="\n")
        if as_json is not None and str(as_json) != "-":
            as_json.parent.mkdir(parents=True, exist_ok=True)
            as_json.write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")
    except OSError as error:
        raise fail(f"{error.filename}: cannot be written ({error.strerror}).") from None
    if as_json is not None and str(as_json) == "-":
        typer.echo(json.dumps(record, indent=2))
    else:
        for name, value in figures(record):
            typer.echo(f"{name}: {value}")
        for path in filter(None, (output, as_json)):
            typer.echo(f"written: {path}")
    if record["supervised_tokens"] and not record["cuda_tokens"]:
        typer.echo(
            "cuset: not one CUDA token; check that the responses hold kernels, and the columns in dataset_info.json.",
            err=True,
        )
        raise typer.Exit(1)
