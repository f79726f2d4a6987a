"""The `cuset` command: a file a group of sub-commands, each importing what it needs when it runs, so that
`cuset --help` answers at once.
"""

# A group registers its sub-commands when it is imported.
from . import audit_tasks, curate, evaluate, generate, init, inspection, pairs, report, study  # noqa: F401
from ._app import app


def main() -> None:
    """The console script's entry."""
    app()
