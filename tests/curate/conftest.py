"""Lets the tests of curation use the cache of the judge's tests."""

from pathlib import Path

import pytest


@pytest.fixture(autouse=True, scope="session")
def own_cache(cache: Path, options_checked_once: None):
    """Set CUSET_CACHE to the folder that all workers share, with programs, cases and the recorder of GPU work."""
    patch = pytest.MonkeyPatch()
    patch.setenv("CUSET_CACHE", str(cache))
    yield
    patch.undo()
