"""Runs of the `cuset` command in the test's own process, without starting Python anew."""

import resource
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from typer.testing import CliRunner

from cuset_stage.cli import app


def cuset(*arguments: object, exit_code: int = 0, **settings: Any) -> str:
    """Run a `cuset` command with key=value settings, check its exit code, and return what it printed."""
    words = [*map(str, arguments), *(f"{key}={value}" for key, value in settings.items())]
    result = CliRunner().invoke(app, words)
    assert result.exit_code == exit_code, result.output
    return result.output


@contextmanager
def small_files() -> Iterator[None]:
    """Let no file exceed 1,000 bytes. For who writes one, this is as a full disk."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
