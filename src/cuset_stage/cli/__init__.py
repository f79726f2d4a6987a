"""The `cuset` command. Each file holds one group of sub-commands.

A sub-command imports what it needs only when it runs, so that `cuset --help` answers at once.
"""

# Importing a file registers its sub-commands.
from . import audit_tasks, curate, evaluate, generate, init, inspection, pairs, report, study  # noqa: F401
from ._app import app


def main() -> None:
    """Run the command line. This is the entry point of the console script."""
    app()
