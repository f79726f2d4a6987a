"""Entries that processes share: made once, never seen half made, kept while they are used, dropped when room is needed."""

import os
import subprocess
import sys
import textwrap
import time
from types import SimpleNamespace

import pytest

from cuset_stage.sandbox import SandboxError, cache
from cuset_stage.sandbox.cache import RESERVE, Cache


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


def test_what_was_used_longest_ago_goes_first_and_what_is_used_stays(tmp_path):
    store = Cache(tmp_path, limit=3200)
    kept = [take(store, key) for key in ("aa1", "aa2", "aa3")]
    for age, taken in zip((9, 5, 7), kept, strict=True):
        os.utime(taken[0], (time.time() - age, time.time() - age))
    del taken  # it holds what it names
    del kept[1:]
    take(store, "bb1")
    assert names(store) == ["aa1", "aa2", "bb1"]  # aa1 is older, and in use
    del kept[:]
    take(Cache(tmp_path, limit=1100), "cc1")
    assert names(store) == ["cc1"]


def test_what_is_in_use_stays_beyond_the_limit(tmp_path):
    store = Cache(tmp_path, limit=1500)
    first = [take(store, "aa1")]
    take(store, "aa2")
    assert names(store) == ["aa1", "aa2"]
    del first[:]
    take(store, "aa3")
    assert names(store) == ["aa3"]
    with pytest.raises(SandboxError, match=r"aa4: its data takes .* there is no room for it under .*cache_gib"):
        take(store, "aa4", size=2000)  # it never fits


def test_disk_space_that_stays_free(tmp_path, monkeypatch):
    store = Cache(tmp_path)
    take(store, "aa1")
    usage = SimpleNamespace(free=RESERVE + 999)
    monkeypatch.setattr(cache.shutil, "disk_usage", lambda _: usage)
    with pytest.raises(SandboxError, match="there is no room"):
        store.make_room(1000, "mine")
    assert names(store) == []  # it was tried
    usage.free += 1
    store.make_room(1000, "mine")


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


def test_what_others_store_is_seen_a_little_later(tmp_path, monkeypatch):
    """A look takes hundreds of system calls. What is stored by the same cache counts at once, and so does what looks full."""
    monkeypatch.setattr(cache, "LOOK_S", 1e9)
    store, other = Cache(tmp_path, limit=3500), Cache(tmp_path, limit=3500)
    looks, look = [], Cache._sizes
    monkeypatch.setattr(Cache, "_sizes", lambda self: looks.append(self) or look(self))
    for key in ("aa1", "aa2", "aa3"):
        take(other, key)
    take(store, "bb1")
    assert names(store) == ["aa1", "aa2", "aa3", "bb1"] and not looks
    other.trim()
    assert not looks
    take(other, "aa4")
    assert looks == [other] and len(names(store)) == 3
    monkeypatch.setattr(cache, "LOOK_S", 0.0)
    store.trim()
    assert looks == [other, store]


def test_a_full_cache_is_not_looked_at_for_each_entry(tmp_path, monkeypatch):
    monkeypatch.setattr(cache, "LOOK_S", 1e9)
    store = Cache(tmp_path, limit=100_000)
    looks, look = [], Cache._sizes
    monkeypatch.setattr(Cache, "_sizes", lambda self: looks.append(self) or look(self))
    for number in range(160):
        take(store, f"{number:03}")
    assert len(looks) < 20 and 90 <= len(names(store)) <= 100
