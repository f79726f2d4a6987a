"""Write files atomically, lock them, fingerprint them and find a training run's whole checkpoints.

Standard library only.
"""

import fcntl
import hashlib
import json
import os
import shutil
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from errno import EDQUOT, EFBIG, ENOSPC
from pathlib import Path
from typing import Any


def file_sha256(path: Path) -> str:
    """Return the SHA-256 of a file's content, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def write_atomically(path: Path, text: str | Iterable[str]) -> None:
    """Write a file in such a way that a crash leaves the old one whole.

    The file's folder is made if it is missing. An existing file's permissions are kept. Of a symbolic link, the target
    is written. A device or a pipe, such as /dev/null, is written to directly.

    Args:
        path: the file to write.
        text: the content, as one text or as parts that are written one after the other.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [text] if isinstance(text, str) else text
    if path.exists() and not path.is_file():
        with errors_name(path), path.open("w", encoding="utf-8", newline="\n") as stream:
            stream.writelines(lines)
        return
    path = path.resolve() if path.is_symlink() else path
    part = path.with_name(f".{path.name}.{os.getpid()}.{threading.get_ident()}.part")
    try:
        with errors_name(path), part.open("w", encoding="utf-8", newline="\n") as stream:
            stream.writelines(lines)
            stream.flush()
            os.fsync(stream.fileno())
        if path.exists():
            part.chmod(path.stat().st_mode & 0o777)
        part.replace(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


@contextmanager
def errors_name(path: Path) -> Iterator[None]:
    """Give the path to an OSError of the block that names no file, such as that of a full disk."""
    try:
        yield
    except OSError as error:
        error.filename = error.filename or str(path)
        raise


def full_disk(error: BaseException | None) -> OSError | None:
    """Return the error of a full disk, quota or `ulimit -f` that this error is or stems from, or None."""
    while error is not None and getattr(error, "errno", None) not in (ENOSPC, EDQUOT, EFBIG):
        error = error.__cause__ or error.__context__
    return error


def read_json(path: Path) -> Any:
    """Return the content of a JSON file, or None if it cannot be read or is not JSON."""
    with suppress(OSError, ValueError):
        return json.loads(path.read_text(encoding="utf-8"))
    return None


def is_regular(path: Path) -> bool:
    """Return whether the path is a file and not a symbolic link.

    A folder that others made (a clone, the output of a program) may contain links to any file of this machine.
    """
    return path.is_file() and not path.is_symlink()


def take_lock(path: Path, *, wait: bool = True, shared: bool = False) -> int | None:
    """Lock a file and return a file descriptor that holds the lock.

    The file is made if it is missing. The lock works between threads as well as between processes. It is held until
    every process that has the descriptor closes it or ends.

    Args:
        path: the file to lock.
        wait: wait until the lock is free.
        shared: take a shared lock, which others can hold at the same time if they share it too.

    Returns:
        The descriptor, or None if `wait` is false and another holds the lock.
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
    """Hold an exclusive lock on a file (see `take_lock`) during the block.

    Yields:
        Whether the lock is held. It is always held if `wait` is true.
    """
    owner = os.getpid()
    lock = take_lock(path, wait=wait)
    try:
        yield lock is not None
    finally:
        if lock is not None:
            # Closing the descriptor does not release the lock while a fork of this process has it too, so the owner
            # unlocks it. A fork only closes its copy, and must not release its parent's lock.
            if os.getpid() == owner:
                fcntl.flock(lock, fcntl.LOCK_UN)
            os.close(lock)


def whole_checkpoints(model: Path) -> list[Path]:
    """Return the fully written checkpoint folders in a run's output folder, in the order of their steps."""
    return [path for path in _checkpoints(model) if is_whole(path)]


def is_whole(checkpoint: Path) -> bool:
    """Return whether a checkpoint was written to its end."""
    return read_json(checkpoint / "trainer_state.json") is not None  # the file of a checkpoint that is written last


def _checkpoints(model: Path) -> list[Path]:
    """Return the trainer's checkpoint folders. Others of a similar name, such as checkpoint-best, are the user's."""
    steps = {path: path.name.removeprefix("checkpoint-") for path in model.glob("checkpoint-*") if path.is_dir()}
    return sorted((path for path in steps if steps[path].isdecimal()), key=lambda path: int(steps[path]))


def drop_torn_checkpoints(model: Path) -> None:
    """Remove checkpoints that were not fully written, so that llamafactory-cli resumes from the last whole one.

    Without any whole checkpoint the output folder is removed, and the training begins again.
    """
    whole = whole_checkpoints(model)
    for path in set(_checkpoints(model)).difference(whole) if whole else (model,):
        shutil.rmtree(path, ignore_errors=True)


def weights_fingerprint(*folders: str | None) -> str | None:
    """Return a SHA-256 over the weight files in the folders: their names, their sizes and 16 pieces of 64 KiB of each.

    It tells apart models that were trained one after the other into the same folder, without reading all of their
    weights.

    Args:
        folders: models and adapters. None and a folder that does not exist (such as a name on the Hub) add nothing.

    Returns:
        The digest in hexadecimal, or None if none of the folders holds weights.
    """
    files = [file for folder in filter(None, folders) for file in sorted(Path(folder).expanduser().glob("*"))]
    digest = hashlib.sha256()
    # training_args.bin holds the recipe, and not every copy of an adapter has it
    weights = [file for file in files if file.suffix in (".safetensors", ".bin") and file.name != "training_args.bin"]
    for file in weights:
        size = file.stat().st_size
        digest.update(f"{file.name}:{size};".encode())
        with file.open("rb") as handle:
            for part in range(16):
                handle.seek(part * max(0, size - (1 << 16)) // 15)
                digest.update(handle.read(1 << 16))
    return digest.hexdigest() if weights else None
