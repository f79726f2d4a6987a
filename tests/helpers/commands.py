"""The `cuset` command, run in this process."""

from typing import Any

from typer.testing import CliRunner

from cuset_stage.cli import app


def cuset(*arguments: object, exit_code: int = 0, **settings: Any) -> str:
    """What the command printed; it has to end with this exit code. settings: key=value."""
    words = [*map(str, arguments), *(f"{key}={value}" for key, value in settings.items())]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == exit_code, done.output
    return done.output
