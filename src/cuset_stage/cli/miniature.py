"""`cuset miniature`: a controlled experiment without pretrained weights: its data, and its model."""

import json

import typer

from ..miniature.settings import MiniatureSettings, PretrainSettings
from ._app import Group, app, command


miniature = typer.Typer(
    cls=Group,
    name="miniature",
    no_args_is_help=True,
    help="A small experiment from nothing: tasks, corpus, training pairs and a model.",
)
app.add_typer(miniature)


@command(miniature, "data", MiniatureSettings)
def data(settings: MiniatureSettings) -> None:
    """Write the corpus, the tokenizer, the training pairs and the held-out tasks of the miniature.

    The same settings give the same files on every machine. Shards of the corpus that are there are kept.
    """
    from ..miniature.write import write_miniature

    typer.echo(json.dumps(write_miniature(settings)))


@command(miniature, "pretrain", PretrainSettings)
def pretrain(settings: PretrainSettings) -> None:
    """Train a small Qwen2 from random weights on the corpus of `cuset miniature data`."""
    from ..miniature.pretrain import pretrain

    typer.echo(json.dumps(pretrain(settings)))
