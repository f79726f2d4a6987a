"""Entries that processes share: made once, never seen half made, kept while they are used, dropped when room is needed."""

import os
import subprocess
import sys
import textwrap
import time
from types import SimpleNamespace

import pytest

from cuset_stage.sandbox import SandboxError, cache
from cuset_stage.sandbox.cache import Cache


def read(entry):
    return entry if (entry / "data").is_file() else None


def take(store, key, size=1000):
    def make(entry):
        store.make_room(size, key)
        with store.new(entry) as folder:
            (folder / "data").write_bytes(bytes(size))
        return entry

    return store.take(key, read, make)


def names(store):
    return sorted(path.name for path in store.folder.glob("??/*"))


def test_what_was_used_longest_ago_goes_first_and_what_is_used_stays(tmp_path, monkeypatch):
    """On a disk of 4100 bytes for entries alone, of which a quarter stays free."""

    def usage(_):
        return SimpleNamespace(free=4100 - sum(file.stat().st_size for file in tmp_path.glob("??/*/data")))

    monkeypatch.setattr(cache.shutil, "disk_usage", usage)
    monkeypatch.setattr(cache, "RESERVE", 100)
    store = Cache(tmp_path)
    kept = [take(store, key) for key in ("aa1", "aa2", "aa3")]
    for age, taken in zip((9, 5, 7), kept, strict=True):
        os.utime(taken[0], (time.time() - age, time.time() - age))
    del taken  # it holds what it names
    del kept[1:]
    take(store, "bb1")
    assert names(store) == ["aa1", "aa2", "bb1"]  # aa1 is older, and in use
    with pytest.raises(SandboxError, match=r"mine: its data takes .* there is no room for it under .*CUSET_CACHE"):
        store.make_room(4000, "mine")
    assert names(store) == ["aa1"]  # it was tried
    del kept[:]
    store.make_room(4000, "mine")  # more than the quarter asks for where nothing else helps
    assert names(store) == []


def test_what_a_killed_process_was_making_is_never_read(tmp_path):
    other = """
        import os, sys
        from pathlib import Path
        from cuset_stage.sandbox.cache import Cache
        store = Cache(Path(sys.argv[1]))
        def make(entry):
            with store.new(entry) as folder:
                (folder / "data").write_bytes(b"half")
                os.kill(os.getpid(), 9)
        store.take("aa1", lambda entry: None, make)
    """
    assert subprocess.run([sys.executable, "-c", textwrap.dedent(other), str(tmp_path)]).returncode == -9
    store = Cache(tmp_path)
    assert names(store) == []
    entry, _ = take(store, "aa1")
    assert (entry / "data").stat().st_size == 1000
