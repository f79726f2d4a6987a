"""The cache of the judge's tests serves those of curation as well."""

from pathlib import Path

import pytest


@pytest.fixture(autouse=True, scope="session")
def own_cache(cache: Path):
    """Programs, cases and the recorder of GPU work, made once for all workers, that other runs do not see."""
    patch = pytest.MonkeyPatch()
    patch.setenv("CUSET_CACHE", str(cache))
    yield
    patch.undo()
