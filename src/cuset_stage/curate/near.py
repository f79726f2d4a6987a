"""Near duplicates among any number of rows by their MinHashes; memory holds a few numbers a row, the MinHashes lie on the disk.

The bands are those of locality-sensitive hashing (Indyk and Motwani 1998), cut so narrow that a pair at the threshold is missed in
fewer than one of a thousand cases. Each band is sorted as a whole, so that no index of all rows is held.
"""

from __future__ import annotations

import tempfile
from array import array
from pathlib import Path

import numpy as np

from .fingerprints import PERMUTATIONS, jaccard


_WAITING = 64  # rows that are held before they are written
_CHUNK = 4096  # pairs that are compared at a time
_ROUNDS = 64  # rows of one bucket that others are held against
_ODD = np.random.default_rng(1).integers(0, 1 << 63, 16, dtype=np.uint64) * np.uint64(2) + np.uint64(1)


class Texts:
    """A list of texts in a temporary file; memory holds 8 bytes of each. folder: where the file is."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._file = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115 - closed with the list
        self._ends = array("Q", [0])

    def append(self, text: str) -> None:
        data = text.encode("utf-8", errors="surrogatepass")
        self._file.seek(self._ends[-1])
        self._file.write(data)
        self._ends.append(self._ends[-1] + len(data))

    def __getitem__(self, number: int) -> str:
        start, end = self._ends[number], self._ends[number + 1]
        self._file.seek(start)
        return self._file.read(end - start).decode("utf-8", errors="surrogatepass")

    def __len__(self) -> int:
        return len(self._ends) - 1


class Sketches:
    """The MinHashes of rows, in the order in which they are added. folder: of the temporary files."""

    def __init__(self, threshold: float, folder: Path) -> None:
        fitting = (rows for rows in range(16, 1, -1) if (1 - threshold**rows) ** (PERMUTATIONS // rows) < 1e-3)
        self._threshold, self._width = threshold, next(fitting, 1)
        folder.mkdir(parents=True, exist_ok=True)
        self._file = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115 - closed with the object
        self._bands = [tempfile.TemporaryFile(dir=folder) for _ in range(PERMUTATIONS // self._width)]  # noqa: SIM115
        self._waiting: list[np.ndarray] = []

    def append(self, sketch: np.ndarray | None) -> None:
        """None: the row is like no other."""
        self._waiting.append(np.zeros(PERMUTATIONS, np.uint32) if sketch is None else sketch)
        if len(self._waiting) == _WAITING:
            self._flush()

    def _flush(self) -> None:
        if self._waiting:
            chunk = np.stack(self._waiting)
            self._file.write(chunk.tobytes())
            parts = chunk[:, : len(self._bands) * self._width].reshape(len(chunk), len(self._bands), -1)
            hashes = (parts * _ODD[: self._width]).sum(axis=2, dtype=np.uint64)
            hashes[~chunk.any(axis=1)] = 0
            for file, band in zip(self._bands, hashes.T, strict=True):
                file.write(band.tobytes())
            self._waiting.clear()

    def duplicates(self, order: np.ndarray, groups: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Of rows that are alike the first in `order` stays.

        order: int64, rows by their places, the best first; others are left out. groups: of every row, uint64; only rows of one group
        are compared.

        Returns:
            For every row the one that it is like, int64, -1 where it stays; and how like it is, float32. That one may itself be like a
            third: a row goes with the first of a chain.
        """
        self._flush()
        self._file.flush()
        count = self._file.tell() // (4 * PERMUTATIONS)
        like, how = np.full(count, -1, np.int64), np.zeros(count, np.float32)
        if not count:
            return like, how
        sketches = np.memmap(self._file, np.uint32, "r", shape=(count, PERMUTATIONS))
        for file in self._bands:
            file.flush()
            rows = order[like[order] < 0]
            hashes = np.memmap(file, np.uint64, "r", shape=(count,))[rows]
            if groups is not None:
                hashes = np.where(hashes == 0, hashes, (hashes ^ groups[rows]) * _ODD[0] | np.uint64(1))
            places = np.argsort(hashes, kind="stable")  # of equal ones the first in `order` is the first
            self._within(rows[places], hashes[places], sketches, like, how)
        return like, how

    def _within(
        self, rows: np.ndarray, bucket: np.ndarray, sketches: np.ndarray, like: np.ndarray, how: np.ndarray
    ) -> None:
        """Hold the rows of each bucket (equal numbers side by side) against the bucket's first, then against the first of the others."""
        rows, bucket = rows[bucket != 0], bucket[bucket != 0]
        for _ in range(_ROUNDS):
            if len(rows) < 2:
                return
            starts = np.flatnonzero(np.concatenate([[True], bucket[1:] != bucket[:-1]]))
            sizes = np.diff(np.append(starts, len(rows)))
            heads = np.repeat(rows[starts], sizes)
            others = np.ones(len(rows), bool)
            others[starts] = False
            rows, bucket, heads = rows[others], bucket[others], heads[others]
            left = np.ones(len(rows), bool)
            for at in range(0, len(rows), _CHUNK):
                part = slice(at, at + _CHUNK)
                found = jaccard(sketches[rows[part]], sketches[heads[part]])
                alike = found >= self._threshold
                like[rows[part][alike]], how[rows[part][alike]] = heads[part][alike], found[alike]
                left[part] = ~alike
            rows, bucket = rows[left], bucket[left]
