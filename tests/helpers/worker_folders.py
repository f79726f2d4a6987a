"""Folders that the workers of pytest-xdist share, so that costly things are made only once in a test run."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from filelock import FileLock


def shared_folder(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], None] | None = None) -> Path:
    """Return the shared folder of this name. The first worker that asks for it makes it.

    It starts empty, or with what `make` writes, which tests must not change.
    """
    base = factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / f"shared-{name}"
    made = folder.with_suffix(".made")
    with FileLock(f"{folder}.lock"):
        if not made.exists():
            shutil.rmtree(folder, ignore_errors=True)  # left by a worker that failed half-way
            folder.mkdir()
            if make:
                make(folder)
            made.touch()
    return folder
