"""`cuset pairs`: does a model prefer the right program? And `cuset pairs make`: pairs from tasks of one's own."""

from collections import Counter

import typer

from ..pairs.settings import MakeSettings
from ._app import Group, app, command


pairs = typer.Typer(
    name="pairs",
    cls=Group,
    help="Measure whether a model prefers right programs to wrong ones, and make the pairs.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
app.add_typer(pairs)


@command(pairs, "make", MakeSettings)
def make(settings: MakeSettings) -> None:
    """Make a pair file from tasks with right programs: mutants that the judge confirms to be wrong.

    Needs a GPU and nvcc for programs that were not judged before. If interrupted, run the same command again to resume.
    """
    from ..pairs.make import make_pairs
    from ..progress import Progress

    rows = make_pairs(settings, Progress)
    kinds = Counter(row["kind"] for row in rows)
    typer.echo(f"pairs: {settings.output}\n" + "\n".join(f"{kind}: {count}" for kind, count in kinds.most_common()))
