"""The folders of the sandbox: the cache root, and the scratch folders that untrusted programs write to.

A program can leave anything in its folder: links, closed folders, paths too long for the kernel. So outputs are taken,
and folders are removed, without trusting anything that lies there.
"""

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
ROOM_BYTES = 256 * 2**20  # with less free disk space, a command may have failed for lack of it
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_KINDS = {stat.S_IFLNK: "a symbolic link", stat.S_IFIFO: "a named pipe", stat.S_IFDIR: "a folder"}


def cache_root() -> Path:
    """Return the cache folder: $CUSET_CACHE, else $XDG_CACHE_HOME/cuset, else ~/.cache/cuset.

    It is made if missing, and closed to other users. Programs under test must not read it, because it holds the
    references.

    Raises:
        SandboxError: The folder cannot be made.
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
    """Return $CUSET_SCRATCH, else the system's folder for temporary files, without symbolic links, as programs see it."""
    return Path(os.environ.get("CUSET_SCRATCH") or tempfile.gettempdir()).resolve()


@contextmanager
def scratch_folder(root: Path | None = None) -> Iterator[Path]:
    """Yield a fresh folder in `root` or `scratch_root()`, which is removed afterwards, whatever is in it.

    Other users may pass through it but not list it, so that the user a program runs as can reach its own folder below.
    The folder is locked while it is in use. This tells it from the folders of killed judges, which are removed when
    the next judge starts.

    Raises:
        SandboxError: No folder can be made there.
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
        if os.getpid() == owner:  # a fork of this process may leave the block, too, and must not remove the folder
            remove_tree(folder)
        os.close(lock)


@functools.cache  # once for each judge and root
def _remove_abandoned(root: Path) -> None:
    """Remove the scratch folders of killed judges: those that nobody has locked and that are not just being made."""
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
    """Return a message if a command may have failed for lack of disk space that it did not fill itself, else None.

    It had to write `need` bytes, and `kept` bytes of what it wrote were moved out of its folder. To find this out, the
    folder may be removed. So nothing in it may be needed any more.
    """
    if lack_of_room(folder.parent, need - kept) is None:
        return None
    remove_tree(folder)
    return lack_of_room(folder.parent, need - kept)


def lack_of_room(place: Path, need: int = 0) -> str | None:
    """Return a message if a scratch folder's disk has less than ROOM_BYTES and `need` more bytes free, else None."""
    free, need = shutil.disk_usage(place).free, need + ROOM_BYTES
    if free >= need:
        return None
    return (
        f"{scratch_root()}: {free // 2**20} MiB of the disk are free, too few to tell a failure from a full disk "
        f"({need // 2**20} MiB are needed): make room there, or name another folder with CUSET_SCRATCH=/path"
    )


def remove_tree(folder: Path) -> None:
    """Remove a folder and everything below it, also closed folders, at any depth, with any number of files.

    Links are never followed. Deeper folders are moved up first, so that no path grows too long. Nothing happens when
    the folder does not exist.

    Raises:
        OSError: A file system refuses.
    """
    if folder.is_symlink() or not folder.is_dir():
        folder.unlink(missing_ok=True)
        return
    inner = f"{folder}/{os.urandom(8).hex()}"  # prefix of the names that moved folders get
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
    """Why an output was not taken.

    Attributes:
        reason: The message, which begins with the output's name.
        wrong_size: True if the size is wrong. False if the output is missing or is not a regular file of its own.
    """

    reason: str
    wrong_size: bool = False


def take_output(folder: Path, name: str, target: Path, *, sizes: Sequence[int] = ()) -> Refused | None:
    """Move the file `name` out of a program's folder to `target`, following no link on the way.

    Call this only after every process of the program is dead. The file may have one of these sizes in bytes, or any if
    `sizes` is empty.

    Returns:
        None if the file was moved, else why it was not.
    """
    try:
        for parent in reversed(Path(name).parents):
            if not stat.S_ISDIR((folder / parent).lstat().st_mode):
                return Refused(f"{name}: not written (the program made something else of the folder {parent})")
            (folder / parent).chmod(0o700)  # the program may have closed it
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
        os.chown(target, 0, 0)  # it may belong to the user that the program ran as
    target.chmod(0o600)
    return None
