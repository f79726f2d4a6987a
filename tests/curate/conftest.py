"""Caches of their own for the tests of curation."""

import pytest


@pytest.fixture(autouse=True, scope="session")
def own_cache(tmp_path_factory: pytest.TempPathFactory):
    """Caches of programs and cases that other runs do not see."""
    patch = pytest.MonkeyPatch()
    patch.setenv("CUSET_CACHE", str(tmp_path_factory.mktemp("cache")))
    yield
    patch.undo()
