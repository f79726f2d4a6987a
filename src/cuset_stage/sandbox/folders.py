"""Folders: caches and locks, and those that a program fills: made fresh, read without trusting anything in them, removed."""

import fcntl
import functools
import os
import shutil
import stat
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from .limits import SandboxError


_PREFIX = "cuset-run-"
_ABANDONED_S = 600.0
ROOM_BYTES = 256 * 2**20  # with less free on the disk, a command that failed may have failed for want of it
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_KINDS = {stat.S_IFLNK: "a symbolic link", stat.S_IFIFO: "a named pipe", stat.S_IFDIR: "a folder"}


def cache_root() -> Path:
    """$CUSET_CACHE, else $XDG_CACHE_HOME/cuset, else ~/.cache/cuset; made when missing, closed to other users.

    Programs under test must not read it: it holds the references. Raises SandboxError when it cannot be made.
    """
    default = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "cuset")
    root = Path(os.environ.get("CUSET_CACHE") or default).expanduser().absolute()
    try:
        root.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        problem = f"the cache folder {root} cannot be made ({error.strerror})"
        raise SandboxError(f"{problem}; name another with CUSET_CACHE=/path") from error
    return root


def scratch_root() -> Path:
    """$CUSET_SCRATCH, else the system's folder for temporary files."""
    return Path(os.environ.get("CUSET_SCRATCH") or tempfile.gettempdir()).absolute()


@contextmanager
def scratch_folder(root: Path | None = None) -> Iterator[Path]:
    """A fresh folder under `root`, or else the temp root, removed afterwards whatever is in it.

    Others may pass through it but not list it: the user that a program runs as reaches its own folder below. It is locked
    while it is in use, so that what a killed judge leaves can be told from it, and goes when the next judge starts.
    """
    root = root or scratch_root()
    _remove_abandoned(root)
    try:
        folder = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=root))
    except OSError as error:
        variable = "CUSET_SCRATCH" if root == scratch_root() else "CUSET_CACHE"
        problem = f"no folder can be made in {root} ({error.strerror})"
        raise SandboxError(f"{problem}; name another with {variable}=/path") from error
    owner = os.getpid()
    lock = os.open(folder, _FOLDER)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        folder.chmod(0o711)
        yield folder
    finally:
        if os.getpid() == owner:  # else a fork of it leaves the block
            remove_tree(folder)
        os.close(lock)


@functools.cache  # once for each judge and root
def _remove_abandoned(root: Path) -> None:
    """Remove scratch folders of judges that were killed: nobody holds their lock, and they are not just being made."""
    for folder in root.glob(f"{_PREFIX}*"):
        with suppress(OSError):
            info = folder.lstat()
            if info.st_uid != os.geteuid() or time.time() - info.st_mtime < _ABANDONED_S:
                continue
            lock = os.open(folder, _FOLDER)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                remove_tree(folder)
            finally:
                os.close(lock)


def out_of_room(folder: Path, need: int = 0, kept: int = 0) -> str | None:
    """Whether a command that failed in this folder may have lacked disk space that it did not fill itself: what to say, or None.

    need: bytes that it had to write. kept: bytes that it wrote and that were taken out of the folder. The folder is removed where that is
    to be found out, so nothing of it may be needed.
    """
    need += ROOM_BYTES - kept
    if shutil.disk_usage(folder.parent).free >= need:
        return None
    remove_tree(folder)
    free = shutil.disk_usage(folder.parent).free
    if free >= need:
        return None
    return (
        f"{scratch_root()}: {free // 2**20} MiB of the disk are free, too few to tell a failure from a full disk "
        f"({need // 2**20} MiB are needed): make room there, or name another folder with CUSET_SCRATCH=/path"
    )


def remove_tree(folder: Path) -> None:
    """Remove a folder and all below it: closed folders, any depth, any number of files; links are never followed.

    What lies deeper is moved up first, so that no path grows too long. Nothing happens when the folder does not exist. Raises OSError
    when a file system refuses.
    """
    if folder.is_symlink() or not folder.is_dir():
        folder.unlink(missing_ok=True)
        return
    inner = f"{folder}/{os.urandom(8).hex()}"  # the names of the folders that were found
    places = [str(folder)]
    for place in places:
        os.chmod(place, 0o700)
        with os.scandir(place) as listing:
            entries = list(listing)
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                os.chmod(entry.path, 0o700)  # else only root may move it
                places.append(f"{inner}-{len(places)}")
                os.rename(entry.path, places[-1])
            else:
                os.unlink(entry.path)
    for place in reversed(places):
        os.rmdir(place)


@dataclass(frozen=True)
class Refused:
    """Why an output was not taken: wrong_size, or else it is missing or no file of its own."""

    reason: str
    wrong_size: bool = False


def take_output(folder: Path, name: str, target: Path, *, sizes: Sequence[int] = ()) -> Refused | None:
    """Move the file `name` out of a program's folder to `target`, following no link on the way; None when that worked.

    Only after every process of the program is dead. sizes: in bytes, that it may have; none: any.
    """
    try:
        for parent in reversed(Path(name).parents):
            if not stat.S_ISDIR((folder / parent).lstat().st_mode):
                return Refused(f"{name}: not written (the program made something else of the folder {parent})")
            (folder / parent).chmod(0o700)  # it may have closed it
        info = (folder / name).lstat()
    except FileNotFoundError:
        return Refused(f"{name}: not written")
    if not stat.S_ISREG(info.st_mode):
        kind = _KINDS.get(stat.S_IFMT(info.st_mode), "a device or a socket")
        return Refused(f"{name}: {kind}, expected a regular file")
    if info.st_nlink != 1:
        return Refused(f"{name}: a hard link to another file, expected a file of its own")
    if sizes and info.st_size not in sizes:
        return Refused(f"{name}: {info.st_size} bytes, expected {' or '.join(map(str, sizes))}", wrong_size=True)
    target.parent.mkdir(parents=True, exist_ok=True)
    os.rename(folder / name, target)
    if os.geteuid() == 0:
        os.chown(target, 0, 0)  # it may have been another user's
    target.chmod(0o600)
    return None
