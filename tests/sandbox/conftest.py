"""Fixtures for the tests of the sandbox: folders in which programs run, kinds of isolation, and a control group."""

import os
from pathlib import Path

import pytest
from judge_fixtures import working

from cuset_stage.sandbox import Isolation, scratch_folder


@pytest.fixture
def bubblewrap():
    """Bubblewrap, or skip the test if it does not work here."""
    return working(Isolation.BUBBLEWRAP)


@pytest.fixture
def landlock():
    """Landlock, or skip the test if it does not work here."""
    return working(Isolation.LANDLOCK)


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
    most, root = str(150 * 2**20), Path("/sys/fs/cgroup")
    if (root / "memory").is_dir():  # version 1, where the second limit is that of memory and swap together
        root, limits = root / "memory", {"memory.limit_in_bytes": most, "memory.memsw.limit_in_bytes": most}
    else:
        limits = {"memory.max": most, "memory.swap.max": "0"}
    group = root / f"cuset-test-{os.getpid()}"
    try:
        group.mkdir()
        for name, limit in limits.items():
            (group / name).write_text(limit)
        yield str(group)
    except OSError:
        pytest.skip("no control group can be made here")
    finally:
        if group.exists():
            group.rmdir()
