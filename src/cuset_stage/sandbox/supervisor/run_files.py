"""The files of a run: inputs copied in, output capped, disk use counted."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os


FICLONE = 0x40049409


def copy_file(source: str, target: str, mode: int) -> None:
    """A copy of its own, shared block by block where the file system can (the original stays as it is in any case)."""
    os.makedirs(os.path.dirname(target), exist_ok=True)
    with open(source, "rb") as reading, open(target, "xb") as writing:
        try:
            fcntl.ioctl(writing.fileno(), FICLONE, reading.fileno())
        except OSError:
            while os.sendfile(writing.fileno(), reading.fileno(), None, 1 << 30):
                pass
        os.fchmod(writing.fileno(), mode)


class CappedFile:
    """A file without a name that a program writes to; when it grows past the cap, its middle is thrown away.

    The program gets the descriptor in append mode, so that it goes on at the new end after the file was cut.
    """

    def __init__(self, folder: str, name: str, cap: int) -> None:
        path = os.path.join(folder, f"cuset-{name}-{os.urandom(8).hex()}")
        self.fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_CLOEXEC, 0o600)
        os.unlink(path)
        self.cap = cap
        self._half = max(1, cap // 2)
        self._head = b""
        self._tail = b""
        self._cut = 0

    def trim(self, slack: int = 1 << 20) -> None:
        """Keep the first and the last half of the cap when more than `slack` beyond it is on disk."""
        info = os.fstat(self.fd)
        if info.st_size <= self.cap + slack:
            return
        if not self._cut:
            self._head = os.pread(self.fd, self._half, 0)
            self._cut -= len(self._head)
        self._tail = os.pread(self.fd, self._half, max(0, info.st_size - self._half))
        os.ftruncate(self.fd, 0)
        self._cut += info.st_size

    def text(self) -> str:
        """What was written, or its head and tail with a line between them that counts what is missing."""
        self.trim(0)
        size = os.fstat(self.fd).st_size
        rest = os.pread(self.fd, self.cap, 0)
        if not self._cut:
            return rest.decode(errors="replace")
        tail = (self._tail + rest)[-self._half :]
        missing = self._cut + size - len(tail)
        note = f"\n[... {missing} bytes left out ...]\n".encode() if missing > 0 else b""
        return (self._head + note + tail).decode(errors="replace")


def folder_usage(folder: str, max_bytes: float, max_entries: float) -> tuple[int, float]:
    """(bytes on disk, entries) below the folder; stops counting as soon as a maximum is passed.

    A path too long for the kernel counts as too many entries: nobody nests that deep with good intent.
    """
    total = entries = 0
    queue = [folder]
    while queue:
        try:
            with os.scandir(queue.pop()) as listing:
                for entry in listing:
                    entries += 1
                    with contextlib.suppress(FileNotFoundError):
                        info = entry.stat(follow_symlinks=False)
                        total += info.st_blocks * 512
                        if entry.is_dir(follow_symlinks=False):
                            queue.append(entry.path)
                    if total > max_bytes or entries > max_entries:
                        return total, entries
        except OSError as error:
            if error.errno == errno.ENAMETOOLONG:
                return total, max_entries + 1
            # else it is gone already, or closed to us (then the program cannot write there either)
    return total, entries
