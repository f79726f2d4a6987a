"""Files between a folder on the disk and a file system of a program's own."""

from __future__ import annotations

import errno
import os
import shutil
import stat


def copy_file(source: str, target: str, most: int | None = None) -> None:
    """The content alone, to a new file, without a way through this process's memory. Holes stay holes: a file of a terabyte may be one.

    most: bytes, beyond which the new file is a hole up to the size of the other.
    """
    with open(source, "rb") as reading, open(target, "xb") as writing:
        size = os.fstat(reading.fileno()).st_size
        writing.truncate(size)
        place, last = 0, size if most is None else min(size, most)
        while place < last:
            try:
                place = os.lseek(reading.fileno(), place, os.SEEK_DATA)
            except OSError as error:
                if error.errno == errno.ENXIO:  # nothing but a hole is left
                    break
                raise
            end = min(last, os.lseek(reading.fileno(), place, os.SEEK_HOLE))
            os.lseek(writing.fileno(), place, os.SEEK_SET)
            while place < end and (sent := os.sendfile(writing.fileno(), reading.fileno(), place, end - place)):
                place += sent


def take_out(files: str, folder: str, name: str, most: int | None) -> None:
    """Copy files/name to folder/name, following no link, while nothing writes to either place. most: see `copy_file`.

    What is missing stays so, and what is no regular file with one name is imitated: who takes the output from `folder` finds that.
    Several names may lead through what the program has put in the place of a folder: the first one imitates it.
    """
    os.chmod(files, 0o700)  # the program may have closed it
    path = ""
    for part in name.split("/"):
        path = os.path.join(path, part)
        source, target = os.path.join(files, path), os.path.join(folder, path)
        try:
            info = os.lstat(source)
        except FileNotFoundError:
            _make_way(target)  # the program has removed it
            return
        if stat.S_ISDIR(info.st_mode):
            os.chmod(source, 0o700)
            os.makedirs(target, exist_ok=True)
            continue
        if not _make_way(target):
            return
        if stat.S_ISLNK(info.st_mode):
            os.symlink(os.readlink(source), target)
        elif not stat.S_ISREG(info.st_mode):
            os.mkfifo(target)
        else:
            os.chmod(source, 0o600)
            copy_file(source, target, most)
            if info.st_nlink != 1:
                os.link(target, f"{target}-{os.urandom(8).hex()}")
        return


def _make_way(target: str) -> bool:
    """Remove the folders that stand where the program has none, or has something else. False where that has been imitated before."""
    if os.path.isdir(target) and not os.path.islink(target):
        shutil.rmtree(target)
    return not os.path.lexists(target)
