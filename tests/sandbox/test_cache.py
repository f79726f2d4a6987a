"""Entries that processes share: made once, never seen half made, kept while they are used, dropped when room is needed."""

import os
import subprocess
import sys
import textwrap
import threading
import time
from types import SimpleNamespace

import pytest

from cuset_stage.sandbox import SandboxError, cache
from cuset_stage.sandbox.cache import RESERVE, Cache


@pytest.fixture(autouse=True)
def _short_waits(monkeypatch):
    monkeypatch.setattr(cache, "ROOM_WAIT_S", 0.5)
    monkeypatch.setattr(cache, "ROOM_PAUSE_S", 0.01)


def read(entry):
    return entry if (entry / "data").is_file() else None


def take(store, key, size=1000):
    def make(entry):
        room = store.reserve(size, key)
        with store.new(entry) as folder:
            (folder / "data").write_bytes(bytes(size))
        del room
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


def test_room_that_others_use_is_waited_for(tmp_path):
    store = Cache(tmp_path, limit=1500)
    first = [take(store, "aa1")]
    with pytest.raises(SandboxError, match=r"aa2: its data takes .* there is no room for it under .*cache_gib"):
        take(store, "aa2")
    threading.Timer(0.2, first.clear).start()
    take(store, "aa2")
    assert names(store) == ["aa2"]
    with pytest.raises(SandboxError, match="there is no room"):
        take(store, "aa3", size=2000)  # it never fits


def test_room_is_promised_to_one_alone(tmp_path):
    """Two that look at the free space at the same time must not both take it; a killed process keeps nothing."""
    other = """
        import sys, time
        from pathlib import Path
        from cuset_stage.sandbox.cache import Cache
        room = Cache(Path(sys.argv[1]), limit=1500).reserve(1000, "other")
        print(flush=True)
        time.sleep(600)
    """
    command = [sys.executable, "-c", textwrap.dedent(other), str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        process.stdout.readline()
        store = Cache(tmp_path, limit=1500)
        with pytest.raises(SandboxError, match="there is no room"):
            store.reserve(1000, "mine")
        process.kill()
    assert store.reserve(1000, "mine")


def test_disk_space_that_stays_free(tmp_path, monkeypatch):
    store = Cache(tmp_path)
    take(store, "aa1")
    usage = SimpleNamespace(free=RESERVE + 999)
    monkeypatch.setattr(cache.shutil, "disk_usage", lambda _: usage)
    with pytest.raises(SandboxError, match="there is no room"):
        store.reserve(1000, "mine")
    assert names(store) == []  # it was tried
    usage.free += 1
    assert store.reserve(1000, "mine")


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


def test_entries_are_looked_at_once(tmp_path, monkeypatch):
    """Or each new entry would pay for all: folders in which nothing changed are not read again."""
    monkeypatch.setattr(cache, "LOOK_S", 0.0)
    store, other = Cache(tmp_path, limit=10**6), Cache(tmp_path, limit=10**6)
    for key in ("aa1", "aa2", "bb1"):
        take(store, key)
    before = time.time() - 60
    for folder in store.folder.glob("??"):
        os.utime(folder, (before, before))
    measured, measure = [], cache._size
    monkeypatch.setattr(cache, "_size", lambda entry: measured.append(entry.name) or measure(entry))
    other.trim()
    assert sorted(measured) == ["aa1", "aa2", "bb1"]
    take(store, "bb2")
    del measured[:]
    for _ in range(3):
        other.trim()
    assert measured == ["bb2"]
    assert sum(other._sizes().values()) == 4000
    os.utime(store.folder / "bb", (before, before))
    other.trim()
    monkeypatch.setattr(cache.Path, "iterdir", lambda self: pytest.fail(f"{self} was read again"))
    assert sum(other._sizes().values()) == 4000
