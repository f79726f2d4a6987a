"""The files of a run: inputs copied in, output capped, disk use counted."""

from __future__ import annotations

import contextlib
import errno
import os


def copy_file(source: str, target: str, mode: int) -> None:
    os.makedirs(os.path.dirname(target), exist_ok=True)
    with open(source, "rb") as reading, open(target, "xb") as writing:
        while os.sendfile(writing.fileno(), reading.fileno(), None, 1 << 30):
            pass
        os.fchmod(writing.fileno(), mode)


class CappedFile:
    """A file without a name that a program writes to; when it grows past the cap, its middle is thrown away.

    The program gets the descriptor in append mode, so that it goes on at the new end after the file was cut.
    """

    def __init__(self, folder: str, cap: int) -> None:
        path = os.path.join(folder, f"cuset-{os.urandom(8).hex()}")
        self.fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_CLOEXEC, 0o600)
        os.unlink(path)
        self.cap, self.half = cap, max(1, cap // 2)
        self.head = self.tail = b""
        self.cut = 0  # bytes that were in the file and are no more

    def trim(self, slack: int = 1 << 20) -> None:
        """Keep the first and the last half of the cap when more than `slack` beyond it is on disk."""
        size = os.fstat(self.fd).st_size
        if size > self.cap + slack:
            self.head = self.head or os.pread(self.fd, self.half, 0)
            self.tail = os.pread(self.fd, self.half, size - self.half)
            os.ftruncate(self.fd, 0)
            self.cut += size

    def text(self) -> str:
        """What was written, or its head and tail with a line between them that counts what is missing."""
        self.trim(0)
        rest = os.pread(self.fd, self.cap, 0)
        if self.cut:
            missing = self.cut + len(rest) - 2 * self.half
            rest = self.head + f"\n[... {missing} bytes left out ...]\n".encode() + (self.tail + rest)[-self.half :]
        return rest.decode(errors="replace")


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
