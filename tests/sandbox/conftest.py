"""The place where programs run."""

import os
import tempfile
from pathlib import Path

import pytest
from judge_fixtures import working

from cuset_stage.sandbox import Isolation, remove_tree, scratch_folder


@pytest.fixture
def bubblewrap():
    return working(Isolation.BUBBLEWRAP)


@pytest.fixture
def landlock():
    return working(Isolation.LANDLOCK)


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


@pytest.fixture
def small_memory():
    """A control group with 150 MiB and no swap; as root alone, and where groups can be made."""
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
