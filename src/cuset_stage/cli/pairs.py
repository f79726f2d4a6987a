"""`cuset pairs`: measure whether a model prefers the right program."""

import json

import typer

from ..files import write_atomically
from ..pairs.settings import PairsSettings
from ..settings import check_writable
from ._app import app, command


@command(app, "pairs", PairsSettings)
def pairs(settings: PairsSettings) -> None:
    """Measure how often models find a right program likelier than a wrong one.

    This takes only forward passes, without sampling and without the sandbox.
    """
    check_writable("output", settings.output, settings.pairs, settings.tasks)  # before torch is imported
    from ..pairs.measure import measure
    from ..pairs.summary import print_tables

    record = measure(settings)
    write_atomically(settings.output, json.dumps(record, indent=1) + "\n")
    print_tables(record)
    typer.echo(f"results: {settings.output}")
