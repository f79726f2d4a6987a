"""The `cuset` command: a file a group of sub-commands, each importing what it needs when it runs, so that
`cuset --help` answers at once.
"""

from . import generate, inspection, report  # noqa: F401  a group registers its sub-commands when it is imported
from ._app import app


def main() -> None:
    """The console script's entry."""
    app()
