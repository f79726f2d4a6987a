"""Files between a folder on the disk and a file system of a program's own."""

from __future__ import annotations

import os
import stat


def copy_file(source: str, target: str) -> None:
    """The content alone, to a new file, without a way through this process's memory."""
    with open(source, "rb") as reading, open(target, "xb") as writing:
        while os.sendfile(writing.fileno(), reading.fileno(), None, 1 << 30):
            pass


def take_out(files: str, folder: str, name: str) -> None:
    """Copy files/name to folder/name, following no link, while nothing writes to either place.

    What is missing stays so, and what is no regular file with one name is imitated: who takes the output from `folder` finds that.
    """
    os.chmod(files, 0o700)  # the program may have closed it
    path = ""
    for part in name.split("/"):
        path = os.path.join(path, part)
        source, target = os.path.join(files, path), os.path.join(folder, path)
        try:
            info = os.lstat(source)
        except FileNotFoundError:
            if os.path.isdir(target):  # the program has removed it
                os.rmdir(target)
            return
        if stat.S_ISDIR(info.st_mode):
            os.chmod(source, 0o700)
            os.makedirs(target, exist_ok=True)
            continue
        if os.path.isdir(target):  # the program has put something else in its place
            os.rmdir(target)
        if stat.S_ISLNK(info.st_mode):
            os.symlink(os.readlink(source), target)
        elif not stat.S_ISREG(info.st_mode):
            os.mkfifo(target)
        else:
            os.chmod(source, 0o600)
            copy_file(source, target)
            if info.st_nlink != 1:
                os.link(target, f"{target}-{os.urandom(8).hex()}")
        return
