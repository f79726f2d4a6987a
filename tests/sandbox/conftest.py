"""Fixtures for the tests of the sandbox: folders in which programs run, kinds of isolation, and a control group."""

import os
import tempfile
from pathlib import Path

import pytest
from judge_fixtures import working

from cuset_stage.sandbox import Isolation, remove_tree, scratch_folder


@pytest.fixture
def bubblewrap():
    """Bubblewrap, or skip the test if it does not work here."""
    return working(Isolation.BUBBLEWRAP)


@pytest.fixture
def landlock():
    """Landlock, or skip the test if it does not work here."""
    return working(Isolation.LANDLOCK)


@pytest.fixture(scope="session")
def open_folder():
    """A function that makes a folder which other users can pass through. The folders are removed at the end.

    Sandboxed programs may run as another user, who cannot enter pytest's own temporary folders.
    """
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
    """Give this test caches and a scratch folder of its own. Returns the scratch folder."""
    folder = open_folder()
    scratch = folder / "scratch"
    scratch.mkdir(mode=0o711)
    monkeypatch.setenv("CUSET_CACHE", str(folder / "cache"))
    monkeypatch.setenv("CUSET_SCRATCH", str(scratch))
    return scratch


@pytest.fixture
def folder(own_caches):
    """A folder for a sandboxed command to work in."""
    with scratch_folder() as scratch:
        inner = scratch / "inner"
        inner.mkdir()
        yield inner


@pytest.fixture
def small_memory():
    """The path of a control group with 150 MiB and no swap.

    Skips the test if no group can be made, as for users other than root.
    """
    for place, limit, swap in (
        ("/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.memsw.limit_in_bytes"),
        ("/sys/fs/cgroup", "memory.max", "memory.swap.max"),
    ):
        group = Path(place, f"cuset-test-{os.getpid()}")
        try:
            group.mkdir()
        except OSError:
            continue
        if (group / limit).exists():
            (group / limit).write_text(str(150 * 2**20))
            (group / swap).write_text("0" if swap == "memory.swap.max" else str(150 * 2**20))
            break
        group.rmdir()
    else:
        pytest.skip("no control group can be made here")
    yield str(group)
    group.rmdir()
