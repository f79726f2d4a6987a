"""`cuset label`: a data set's labels before anyone trains."""

import json
from pathlib import Path

import typer

from ..analysis.requests import LabelSettings
from ..settings import check_writable
from ._app import app, command


@command(app, "label", LabelSettings)
def label(settings: LabelSettings) -> None:
    """Show how much of a data set is CUDA, and what truncation drops, labelled as training would.

    The exit code is 1 when not one CUDA token is found.
    """
    from ..analysis.labels import figures, render, summarise
    from ..files import write_atomically

    for key in ("output", "numbers"):
        path = getattr(settings, key)
        if path not in (None, Path("-")):
            check_writable(key, path)
    summary = summarise(settings)
    record = summary.record
    text = json.dumps(record, indent=2) + "\n"
    files = {settings.output: render(summary), settings.numbers: text}
    to_stdout = files.pop(Path("-"), None)
    files.pop(None, None)
    for path, content in files.items():
        write_atomically(path, content)
    if to_stdout:
        typer.echo(text, nl=False)
    else:
        for name, value in figures(record):
            typer.echo(f"{name}: {value}")
        for path in files:
            typer.echo(f"written: {path}")
    if not record["cuda_tokens"]:
        found = "not one CUDA token" if record["supervised_tokens"] else "not one row with a response"
        typer.echo(
            f"cuset: {found}; check that the responses hold kernels, and the columns in dataset_info.json.",
            err=True,
        )
        raise typer.Exit(1)
