"""What rows are compared by, made once by `split` and kept in the row under `fingerprints`.

| key | of | is |
|---|---|---|
| `program` | the code, else prompt and reference, else the module | a digest, equal for programs that differ in comments, layout and names |
| `kernels` | each `__global__` function | a MinHash of its normalised subtrees (cuda_source.kernel_features) |
| `module` | a PyTorch module | three digests (with and without its names, and without its inputs) and a MinHash of its tokens |
| `prompt` | what the source asks | a digest and a MinHash of its words |

A MinHash (Broder 1997, computed by `datasketch`) has 128 numbers of 32 bits, in base64. Equal numbers estimate the Jaccard similarity.
"""

from __future__ import annotations

import base64
import re
import tempfile
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from datasketch import MinHash

from ..cuda_source import Function, Source, answer_code, kernel_features, normalised, tokens
from .modules import bare
from .rows import Row, digest


PERMUTATIONS = 128
CODE_SHINGLE = 8
WORD_SHINGLE = 5
_WORD = re.compile(r"[^\W_]+")


def fingerprints_of(row: Row, kernels: list[str] | None = None) -> dict[str, Any]:
    """The fingerprints of a row; those that it brings where it went through `split`. kernels: those of its code, where they are known."""
    if isinstance(row.get("fingerprints"), dict):
        return row["fingerprints"]
    keys = ("answer_code",) if row.get("kind") == "module" else ("program", "code", "answer")
    code = next((str(row[key]) for key in keys if row.get(key)), "")  # adapted, or as it was imported
    module = str(row.get("module_code") or "")
    reference = (row.get("task") or row).get("reference")
    task = digest("task", own_prompt(row), reference) if reference else module_exact(module)
    if kernels is None:
        kernels = kernel_fingerprints(answer_code(code) if module or row.get("answer") else code)
    made: dict[str, Any] = {"program": digest(normalised(code)) if code.strip() else task, "kernels": kernels}
    if module.strip():
        made["module"] = module_fingerprint(module)
    if prompt := own_prompt(row):
        made["prompt"] = prose_fingerprint(prompt)
    return made


def own_prompt(row: Row) -> str:
    """The prompt or description of its source, without what `cases` adds of the files; else the user's message."""
    return str(row.get("prompt") or row.get("description") or (row.get("task") or {}).get("prompt") or "")


def kernel_fingerprints(code: str) -> list[str]:
    """The MinHash of each kernel of a program that has a subtree to count."""
    source = Source(code) if "__global__" in code else None
    sketches = (kernel_fingerprint(source, each) for each in source.functions if each.is_kernel) if source else ()
    return [each for each in sketches if each]


def kernel_fingerprint(source: Source, kernel: Function) -> str:
    """The MinHash of a kernel with the functions that it calls; empty where no subtree of it says anything."""
    return packed(minhash(kernel_features(source, kernel)))


def module_fingerprint(source: str) -> list[str]:
    """Fingerprints of a PyTorch module's statements, without docstrings, annotations and comments: digests with and without its names, one of what
    it computes alone, and a MinHash in which names stay, which say what operator it is, and sizes do not."""
    text = bare(source)
    shape = ["0" if token.kind == "number" else token.text for token in tokens(text)]
    computed = module_exact(source, inputs=False)
    return [module_exact(source), digest(normalised(text)), computed, packed(minhash(_runs(shape, CODE_SHINGLE)))]


def module_exact(source: str, *, inputs: bool = True) -> str:
    """A digest of a module's statements, with its sizes and inputs or without them."""
    return digest(" ".join(token.text for token in tokens(bare(source, inputs=inputs))))


def prose_fingerprint(text: str) -> list[str]:
    """A digest and a MinHash of a prompt's words in lower case, without punctuation."""
    words = prose_exact(text)
    return [digest(words), packed(minhash(_runs(words.split(), WORD_SHINGLE)))]


def prose_exact(text: str) -> str:
    """The words that `prose_fingerprint` compares; empty where there are none."""
    return " ".join(match[0].lower() for match in _WORD.finditer(text))


def _runs(words: Sequence[str], length: int) -> list[str]:
    return [" ".join(words[i : i + length]) for i in range(len(words) - length + 1)]


@cache
def _empty() -> MinHash:
    return MinHash(num_perm=PERMUTATIONS, seed=1)  # its permutations take longer to make than a row


def minhash(features: Iterable[str]) -> np.ndarray | None:
    """uint32 [128]; None of nothing."""
    encoded = sorted({feature.encode("utf-8", errors="surrogatepass") for feature in features})
    if not encoded:
        return None
    sketch = _empty().copy()
    sketch.update_batch(encoded)
    return np.asarray(sketch.hashvalues, dtype=np.uint32)  # the values have 32 bits


def packed(sketch: np.ndarray | None) -> str:
    return "" if sketch is None else base64.b64encode(sketch.tobytes()).decode()


def unpacked(text: str) -> np.ndarray | None:
    return np.frombuffer(base64.b64decode(text), np.uint32) if text else None


def jaccard(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """The estimate from MinHashes [..., 128], float32 [...]; its standard error is at most 0.044 with 128 permutations."""
    return (one == other).mean(axis=-1, dtype=np.float32)


def device_sketch(fingerprints: dict[str, Any]) -> np.ndarray | None:
    """The MinHash of all kernels of a row together, which is the least of each of its values; None where it has no kernel."""
    sketches = [unpacked(text) for text in fingerprints["kernels"]]
    return np.minimum.reduce(sketches) if sketches else None


_CHUNK = 4096  # pairs that are compared at a time
_ROUNDS = 64  # rows of one bucket that others are held against
_ODD = np.random.default_rng(1).integers(0, 1 << 63, 16, dtype=np.uint64) * np.uint64(2) + np.uint64(1)


class Sketches:
    """Near duplicates among any number of rows by their MinHashes, which lie in a temporary file in `folder`.

    The bands are those of locality-sensitive hashing (Indyk and Motwani 1998), cut so narrow that a pair at the threshold is missed in
    fewer than one of a thousand cases. Each band is sorted as a whole, so that no index of all rows is held.
    """

    def __init__(self, threshold: float, folder: Path) -> None:
        fitting = (rows for rows in range(16, 1, -1) if (1 - threshold**rows) ** (PERMUTATIONS // rows) < 1e-3)
        self._threshold, self._width = threshold, next(fitting, 1)
        folder.mkdir(parents=True, exist_ok=True)
        self._file = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115 - closed with the object

    def append(self, sketch: np.ndarray | None) -> None:
        """Add the next row's MinHash; None: the row is like no other."""
        self._file.write((np.zeros(PERMUTATIONS, np.uint32) if sketch is None else sketch).tobytes())

    def duplicates(self, order: np.ndarray, groups: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Find rows to drop: of those that are alike the first in `order` stays.

        Args:
            order: int64, rows by their places, the best first; others are left out.
            groups: of every row, uint64; only rows of one group are compared.

        Returns:
            For every row the one that it is like, int64, -1 where it stays; and how like it is, float32. That one may itself be like a
            third: a row goes with the first of a chain.
        """
        self._file.flush()
        count = self._file.tell() // (4 * PERMUTATIONS)
        like, how = np.full(count, -1, np.int64), np.zeros(count, np.float32)
        if not count:
            return like, how
        sketches = np.memmap(self._file, np.uint32, "r", shape=(count, PERMUTATIONS))
        order = order[sketches.any(axis=1)[order]]
        for start in range(0, PERMUTATIONS - self._width + 1, self._width):
            rows = order[like[order] < 0]
            band = sketches[:, start : start + self._width][rows]
            hashes = (band * _ODD[: self._width]).sum(axis=1, dtype=np.uint64)
            if groups is not None:
                hashes = (hashes ^ groups[rows]) * _ODD[0]
            places = np.argsort(hashes, kind="stable")  # of equal ones the first in `order` is the first
            self._within(rows[places], hashes[places], sketches, like, how)
        return like, how

    def near(
        self, order: np.ndarray, names: Sequence[str], groups: np.ndarray | None = None
    ) -> dict[int, tuple[str, str]]:
        """Reason and detail for every row that `duplicates` finds. names: of all rows."""
        like, how = self.duplicates(order, groups)
        return {
            row: ("duplicate_near", f"its kernels are like those of {names[like[row]]} (similarity {how[row]:.2f})")
            for row in np.flatnonzero(like >= 0).tolist()
        }

    def _within(
        self, rows: np.ndarray, bucket: np.ndarray, sketches: np.ndarray, like: np.ndarray, how: np.ndarray
    ) -> None:
        """Hold the rows of each bucket (equal numbers side by side) against the bucket's first, then against the first of the others."""
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
                similarity = jaccard(sketches[rows[part]], sketches[heads[part]])
                alike = similarity >= self._threshold
                like[rows[part][alike]], how[rows[part][alike]] = heads[part][alike], similarity[alike]
                left[part] = ~alike
            rows, bucket = rows[left], bucket[left]
