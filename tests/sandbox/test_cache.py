"""The cache that processes share: entries are made once, never seen half made, kept while in use, dropped when room is
needed.
"""

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
    """Take an entry, which is made with `size` bytes if it is not there. Return the entry and what holds it."""

    def make(entry):
        store.make_room(size, key)
        with store.new(entry) as folder:
            (folder / "data").write_bytes(bytes(size))
        return entry

    return store.take(key, read, make)


def names(store):
    return sorted(path.name for path in store.folder.glob("??/*"))


def test_what_was_used_longest_ago_goes_first_and_what_is_used_stays(tmp_path, monkeypatch):
    """The disk has 4100 bytes, all for entries, and the cache leaves a quarter of it free."""

    def usage(_):
        return SimpleNamespace(free=4100 - sum(file.stat().st_size for file in tmp_path.glob("??/*/data")))

    monkeypatch.setattr(cache.shutil, "disk_usage", usage)
    monkeypatch.setattr(cache, "RESERVE", 100)
    store = Cache(tmp_path)
    kept = [take(store, key) for key in ("aa1", "aa2", "aa3")]
    for age, taken in zip((9, 5, 7), kept, strict=True):
        os.utime(taken[0], (time.time() - age, time.time() - age))
    del taken  # this variable holds the last entry, too
    del kept[1:]
    take(store, "bb1")
    assert names(store) == ["aa1", "aa2", "bb1"]  # aa1 is older, but in use
    with pytest.raises(SandboxError, match=r"mine: its data takes .* there is no room for it under .*CUSET_CACHE"):
        store.make_room(4000, "mine")
    assert names(store) == ["aa1"]  # it dropped what it could before it gave up
    del kept[:]
    store.make_room(4000, "mine")  # uses the free quarter as well when nothing else helps
    assert names(store) == []


def test_a_full_scratch_disk_empties_no_cache_on_another(tmp_path, monkeypatch):
    take(Cache(tmp_path), "aa1")
    monkeypatch.setattr(cache.shutil, "disk_usage", lambda place: SimpleNamespace(free=2**50 * (place == tmp_path)))
    with pytest.raises(SandboxError, match="CUSET_SCRATCH"):
        Cache(tmp_path).make_room(1, "mine")
    assert names(Cache(tmp_path)) == ["aa1"]


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
