"""The place where attacks run, and the isolations that this machine has."""

import tempfile
from pathlib import Path

import pytest

from cuset_stage.sandbox import Isolation, SandboxError, remove_tree, resolve_isolation, scratch_folder


def works(isolation: Isolation) -> bool:
    try:
        return resolve_isolation(isolation) is isolation
    except SandboxError:
        return False


@pytest.fixture(params=[Isolation.BUBBLEWRAP, Isolation.PROCESSES])
def isolation(request) -> Isolation:
    if not works(request.param):
        pytest.skip("bubblewrap is not installed, or does not work here")
    return request.param


@pytest.fixture(scope="session")
def open_folder():
    """Makes folders that the user a program runs as can pass through, which pytest's own are not; they go at the end."""
    made = []

    def make() -> Path:
        made.append(Path(tempfile.mkdtemp(prefix="cuset-test-")))
        made[-1].chmod(0o711)
        return made[-1]

    yield make
    for folder in made:
        remove_tree(folder)


@pytest.fixture
def own_caches(open_folder, monkeypatch):
    """Caches and scratch folders of this test alone; returns the scratch folder."""
    folder = open_folder()
    scratch = folder / "scratch"
    scratch.mkdir(mode=0o711)
    monkeypatch.setenv("CUSET_CACHE", str(folder / "cache"))
    monkeypatch.setenv("CUSET_SCRATCH", str(scratch))
    return scratch


@pytest.fixture
def folder(own_caches):
    with scratch_folder() as scratch:
        inner = scratch / "inner"
        inner.mkdir()
        yield inner
