"""Folders that untrusted programs have filled: they are removed whatever is in them, and read without following links."""

import os
import shutil
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from cuset_stage.sandbox import SandboxError, cache_root, folders, remove_tree, run_program, scratch_folder
from cuset_stage.sandbox.folders import take_output


def nest(folder: Path, depth: int) -> None:
    """Make `depth` nested folders with a file at the bottom. The path may be longer than the system allows."""
    here = os.open(folder, os.O_RDONLY)
    for _ in range(depth):
        os.mkdir("d", dir_fd=here)
        inner = os.open("d", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = inner
    os.close(os.open("file", os.O_CREAT | os.O_WRONLY, dir_fd=here))
    os.close(here)


def test_a_full_disk_is_blamed_on_who_filled_it(tmp_path, monkeypatch):
    run = tmp_path / "run"
    run.mkdir()
    monkeypatch.setattr(folders, "ROOM_BYTES", shutil.disk_usage(tmp_path).free - 300 * 2**20)
    (run / "tmp").mkdir()
    with open(run / "tmp" / "filled", "wb") as file:
        os.posix_fallocate(file.fileno(), 0, 600 * 2**20)
    assert folders.out_of_room(run) is None and not run.exists()
    run.mkdir()
    assert "CUSET_SCRATCH" in folders.out_of_room(run, need=600 * 2**20) and not run.exists()
    assert folders.out_of_room(run, need=600 * 2**20, kept=600 * 2**20) is None  # the run itself wrote as much
    run.mkdir()
    assert folders.out_of_room(run) is None and run.exists()


@pytest.mark.parametrize(("script", "charged"), [("exit 3", "runtime_error"), ("exit 0", "missing_output")])
def test_a_program_on_a_full_disk_is_not_charged(own_caches, tmp_path, monkeypatch, isolation, script, charged):
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)

    def run():
        with run_program(program, inputs={}, outputs={"data/o.bin": (8,)}, isolation=isolation) as ran:
            return ran

    assert run().verdict == charged
    monkeypatch.setattr(folders, "ROOM_BYTES", 2**60)
    ran = run()
    assert ran.verdict == "infra_error" and ran.message == ran.finished.infra and "of the disk are free" in ran.message


@pytest.fixture
def in_memory(tmp_path):
    """A folder in memory if possible. Some disks take 3 ms to remove a folder, and the test makes thousands."""
    place = Path(tempfile.mkdtemp(dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else tmp_path))
    yield place
    remove_tree(place)


def test_remove_tree_takes_any_depth_and_odd_entries(in_memory):
    target = in_memory / "target"
    target.mkdir()
    nest(target, 2500)
    outside = in_memory / "outside"
    outside.mkdir()
    (outside / "kept").touch()
    (target / "link").symlink_to(outside)
    (target / "broken").symlink_to("nowhere")
    os.mkfifo(target / "fifo")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(target / "s"))
    for number in range(50):
        (target / "wide" / str(number) / "a" / "b").mkdir(parents=True)
        (target / "wide" / str(number) / "file").touch()
    (target / "closed").mkdir()
    (target / "closed" / "inner").mkdir()
    (target / "closed" / "inner").chmod(0)
    (target / "closed").chmod(0)
    (target / os.fsdecode(b"\xff\n")).touch()
    target.chmod(0)
    remove_tree(target)
    assert not os.path.lexists(target) and (outside / "kept").exists()
    (in_memory / "link").symlink_to(outside)
    remove_tree(in_memory / "link")
    remove_tree(in_memory / "missing")
    assert [path.name for path in in_memory.iterdir()] == ["outside"]


def test_take_output_follows_nothing(tmp_path):
    folder, target = tmp_path / "run", tmp_path / "taken"
    (folder / "data").mkdir(parents=True)
    secret = tmp_path / "secret"
    secret.write_text("1234")

    def refused(name: str) -> str:
        result = take_output(folder, name, target, sizes=(4,))
        assert not target.exists()
        return result.reason

    assert "not written" in refused("data/missing.bin")
    (folder / "data" / "link.bin").symlink_to(secret)
    assert "symbolic link" in refused("data/link.bin")
    os.link(secret, folder / "data" / "hard.bin")
    assert "hard link" in refused("data/hard.bin")
    (folder / "elsewhere").symlink_to(tmp_path)
    assert "something else" in refused("elsewhere/secret")
    assert refused("gone/x.bin") == "gone/x.bin: not written"
    (folder / "data" / "file").touch()
    assert "something else of the folder data/file" in refused("data/file/x.bin")
    (folder / "data" / "long.bin").write_text("12345")
    result = take_output(folder, "data/long.bin", target, sizes=(4,))
    assert result.wrong_size and result.reason == "data/long.bin: 5 bytes, expected 4"
    (folder / "data" / "right.bin").write_text("good")
    (folder / "data" / "right.bin").chmod(0)
    assert take_output(folder, "data/right.bin", target, sizes=(4,)) is None
    assert target.read_text() == "good"


def test_the_cache_is_closed_to_others_and_folders_that_cannot_be_made_are_named(tmp_path, monkeypatch):
    monkeypatch.delenv("CUSET_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_root() == tmp_path / "cuset"
    assert cache_root().stat().st_mode & 0o777 == 0o700
    (tmp_path / "file").touch()
    monkeypatch.setenv("CUSET_CACHE", str(tmp_path / "file" / "cache"))
    with pytest.raises(SandboxError, match="CUSET_CACHE"):
        cache_root()
    monkeypatch.setenv("CUSET_SCRATCH", str(tmp_path / "missing"))
    with pytest.raises(SandboxError, match="CUSET_SCRATCH"), scratch_folder():
        pass


HOLDER = """
import sys, time
from cuset_stage.sandbox import scratch_folder
with scratch_folder() as folder:
    print(folder, flush=True)
    time.sleep(600)
"""


def test_what_a_killed_judge_leaves_goes_with_the_next(tmp_path, monkeypatch):
    monkeypatch.setenv("CUSET_SCRATCH", str(tmp_path))
    command = [sys.executable, "-c", HOLDER]
    holders = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    folders = [Path(holder.stdout.readline().strip()) for holder in holders]
    fresh = Path(tempfile.mkdtemp(prefix="cuset-run-", dir=tmp_path))
    holders[0].kill()
    holders[0].wait()
    for folder in folders:
        os.utime(folder, (0, 0))  # both look old; only one has lost its judge
    with scratch_folder() as own:
        assert set(tmp_path.iterdir()) == {own, folders[1], fresh}
    holders[1].kill()
    holders[1].wait()
