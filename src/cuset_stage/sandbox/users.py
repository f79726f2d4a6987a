"""A user id for each run, when the judge is root: what the program may touch, and what belongs to it, is then clear."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from .cache import held, try_lock
from .gpus import Gpu
from .isolation import gpu_devices


FIRST_USER, USERS = 60578, 600
"""User ids that systemd's table of ranges leaves to nobody: one for each run that is on at a time."""
_PLACES = ("/run/lock", "/var/lock", "/tmp")
_GPU_OPTIONAL = ("caps", "modeset", "tools")


def _locks() -> Path | None:
    """One folder for all judges of the machine, whatever their caches: two runs with one user would end each other."""
    for place in _PLACES:
        folder = Path(place, "cuset-users")
        with suppress(OSError):
            folder.mkdir(mode=0o700, exist_ok=True)
            if folder.lstat().st_uid == 0 and not folder.is_symlink():
                return folder
    return None


@contextmanager
def user_of_its_own() -> Iterator[int | None]:
    """As root, a user id that no other run has now; else None."""
    locks = _locks() if os.geteuid() == 0 else None
    if locks is None:
        yield None
        return
    start = (os.getpid() * 7 + threading.get_ident() // 4096) % USERS  # two judges seldom try the same ones
    for step in range(USERS):
        uid = FIRST_USER + (start + step) % USERS
        fd = try_lock(locks / f"{uid}.lock")
        if fd is not None:
            with held(fd):
                yield uid
            return
    yield None


def needed_by(command: Sequence[str], folder: Path, visible: Sequence[Path], gpu: Gpu | None) -> list[list[Any]]:
    """What a user of its own must be able to use, else the command runs as the judge's user: [path, access mode]."""
    needed: list[list[Any]] = [[str(folder), os.R_OK | os.W_OK | os.X_OK]]
    needed += [[str(path), os.R_OK | os.X_OK] for path in visible]
    needed += [
        [node, os.R_OK | os.W_OK]
        for node in (gpu_devices(gpu) if gpu is not None else [])
        if not node.endswith(_GPU_OPTIONAL)
    ]
    if os.path.isabs(str(command[0])):
        needed.append([str(command[0]), os.X_OK])
    return needed
