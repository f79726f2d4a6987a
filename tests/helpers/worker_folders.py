"""Folders that the workers of pytest-xdist share, so that what takes long to make is made once in a run of the tests."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from filelock import FileLock


def shared_folder(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], None] | None = None) -> Path:
    """The folder of this name, empty or as `make` fills it. Tests change nothing of what it made."""
    base = factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / f"shared-{name}"
    made = folder.with_suffix(".made")
    with FileLock(f"{folder}.lock"):
        if not made.exists():
            shutil.rmtree(folder, ignore_errors=True)  # what a worker left that failed
            folder.mkdir()
            if make:
                make(folder)
            made.touch()
    return folder
