"""Atomic writing of files, locks on them, SHA-256 of their content and of weights, and which checkpoints of a training are whole. Standard library
only."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shutil
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


def file_sha256(path: Path) -> str:
    """SHA-256 of a file's content, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def write_atomically(path: Path, text: str | Iterable[str]) -> None:
    """Write a file so that a crash leaves the old one whole; makes its folder. The text may be given in parts."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.{os.getpid()}.{threading.get_ident()}.part")
    try:
        with part.open("w", encoding="utf-8", newline="\n") as stream:
            stream.writelines([text] if isinstance(text, str) else text)
            stream.flush()
            os.fsync(stream.fileno())
        if path.exists():
            part.chmod(path.stat().st_mode & 0o777)
        part.replace(path)
    except BaseException as error:
        if isinstance(error, OSError) and error.filename is None:  # as of a full disk
            error.filename = str(path)
        part.unlink(missing_ok=True)
        raise


def is_regular(path: Path) -> bool:
    """Whether it is a file and no link, which what others made (a clone, a program) can lead to any file of this machine."""
    return path.is_file() and not path.is_symlink()


def take_lock(path: Path, *, wait: bool = True, shared: bool = False) -> int | None:
    """A descriptor that holds a lock on a file, which is made where missing, until every process that has it closes it or dies.

    The lock is between threads and processes. shared: beside others who share it. None: without `wait`, when another holds it.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    lock = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(lock, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | (0 if wait else fcntl.LOCK_NB))
    except OSError as error:
        os.close(lock)
        if isinstance(error, BlockingIOError):
            return None
        raise
    return lock


@contextmanager
def file_lock(path: Path, *, wait: bool = True) -> Iterator[bool]:
    """Hold an exclusive lock on a file (see `take_lock`) for the block; yields whether it is held."""
    owner = os.getpid()
    lock = take_lock(path, wait=wait)
    try:
        yield lock is not None
    finally:
        if lock is not None:
            # closing it is not enough while a fork of this process has it, too; and a fork lets go of nothing
            if os.getpid() == owner:
                fcntl.flock(lock, fcntl.LOCK_UN)
            os.close(lock)


def whole_checkpoints(model: Path) -> list[Path]:
    """Checkpoints of a training, in the order of their steps, without those whose writing was stopped."""
    whole = []
    for path in model.glob("checkpoint-*"):
        with suppress(OSError, ValueError):
            json.loads((path / "trainer_state.json").read_bytes())  # it is written last
            whole.append(path)
    return sorted(whole, key=lambda path: int(path.name.rpartition("-")[2]))


def drop_torn_checkpoints(model: Path) -> None:
    """Remove checkpoints whose writing was stopped, so that llamafactory-cli goes on from the last whole one; without any it begins again."""
    whole = whole_checkpoints(model)
    for path in {*model.glob("checkpoint-*")}.difference(whole) if whole else (model,):
        shutil.rmtree(path, ignore_errors=True)


def weights_fingerprint(*folders: str | None) -> str | None:
    """SHA-256 over the sizes of the weight files in the folders and over 16 stretches of 64 KiB of each.

    It tells models apart that were trained one after the other into one folder, without reading all of them. A folder that is not there (a name
    on the Hub) adds nothing; None when none of them holds weights.
    """
    files = [file for folder in filter(None, folders) for file in sorted(Path(folder).expanduser().glob("*"))]
    weights, digest = [file for file in files if file.suffix in (".safetensors", ".bin")], hashlib.sha256()
    for file in weights:
        size = file.stat().st_size
        digest.update(f"{file.name}:{size};".encode())
        with file.open("rb") as handle:
            for part in range(16):
                handle.seek(part * max(0, size - (1 << 16)) // 15)
                digest.update(handle.read(1 << 16))
    return digest.hexdigest() if weights else None
