"""`cuset pairs`: does a model prefer the right program? And `cuset pairs make`: pairs from tasks of one's own."""

import json
from collections import Counter
from typing import Any

import typer

from ..pairs.settings import MakeSettings, PairsSettings
from ..settings import check_writable
from ._app import Group, app, command


class PairsGroup(Group):
    """`cuset pairs make ...`; anything else but --help is for `cuset pairs measure`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if args and args[0] not in (*self.commands, "--help"):
            args = [MEASURE, *args]
        return super().parse_args(ctx, args)


MEASURE = "measure"
pairs = typer.Typer(
    name="pairs",
    cls=PairsGroup,
    help="Measure whether models prefer right programs to wrong ones, or make such pairs. `cuset pairs [FILE.yaml] "
    "[KEY=VALUE ...]` measures; `cuset pairs measure --help` and `cuset pairs make --help` list the keys.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
app.add_typer(pairs)


@command(pairs, MEASURE, PairsSettings, typed="pairs")
def measure(settings: PairsSettings) -> None:
    """Measure how often models find a right program likelier than a wrong one.

    Forward passes alone: no sampling, no sandbox. `cuset pairs make --help` says how pairs are made.
    """
    check_writable("output", settings.output)  # before torch is imported
    from ..files import write_atomically
    from ..pairs.measure import measure as run
    from ..pairs.summary import print_tables

    record = run(settings)
    write_atomically(settings.output, json.dumps(record, indent=1) + "\n")
    print_tables(record)
    typer.echo(f"results: {settings.output}")


@command(pairs, "make", MakeSettings)
def make(settings: MakeSettings) -> None:
    """Make a pair file from tasks with right programs: mutants that the judge confirms to be wrong.

    Needs a GPU and nvcc for programs that were not judged before. If interrupted, run the same command again to resume.
    """
    from ..pairs.make import make_pairs

    rows = make_pairs(settings)
    kinds = Counter(row["kind"] for row in rows)
    typer.echo(f"pairs: {settings.output}\n" + "\n".join(f"{kind}: {count}" for kind, count in kinds.most_common()))
