"""Fingerprints for comparing rows. `split` computes them once and stores them in each row under `fingerprints`.

| key | computed from | value |
|---|---|---|
| `program` | the code, else prompt and reference, else the module | a digest that ignores comments, layout and names |
| `kernels` | each `__global__` function | a MinHash of its normalised subtrees (cuda_source.kernel_features) |
| `module` | a PyTorch module | three digests (with and without its names, and without its inputs) and a MinHash of its tokens |
| `prompt` | the source's prompt or description | a digest and a MinHash of its words |

A MinHash (Broder 1997, computed by `datasketch`) has 128 numbers of 32 bits, stored in base64. The share of equal
numbers in two MinHashes estimates the Jaccard similarity.
"""

import base64
import re
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from datasketch import MinHash

from ..cuda_source import Function, Source, answer_code, kernel_features, normalised, tokens
from .modules import bare
from .rows import Dropped, Row, digest


PERMUTATIONS = 128
CODE_SHINGLE = 8  # tokens
WORD_SHINGLE = 5  # words
_WORD = re.compile(r"[^\W_]+")
_EMPTY = MinHash(num_perm=PERMUTATIONS, seed=1)  # copied, as making the permutations takes longer than hashing a row


def fingerprints_of(row: Row, kernels: list[str] | None = None) -> dict[str, Any]:
    """Return the fingerprints of a row. A row that already has fingerprints keeps them.

    Args:
        row: a row of any stage.
        kernels: the packed MinHashes of the kernels in its code, if they have been computed before. None: compute
            them.
    """
    if isinstance(row.get("fingerprints"), dict):
        return row["fingerprints"]
    keys = ("answer_code",) if row.get("kind") == "module" else ("program", "code", "answer")
    code = next((str(row[key]) for key in keys if row.get(key)), "")  # the keys of adapted and of imported rows
    module = str(row.get("module_code") or "")
    reference = (row.get("task") or row).get("reference")
    task = digest("task", own_prompt(row), reference) if reference else module_exact(module)
    if kernels is None:
        kernels = kernel_fingerprints(answer_code(code) if module or row.get("answer") else code)
    fingerprints: dict[str, Any] = {"program": digest(normalised(code)) if code.strip() else task, "kernels": kernels}
    if module.strip():
        fingerprints["module"] = module_fingerprint(module)
    if prompt := own_prompt(row):
        fingerprints["prompt"] = prose_fingerprint(prompt)
    return fingerprints


def own_prompt(row: Row) -> str:
    """Return the prompt or description that the row's source gives, or else the prompt of the task record."""
    return str(row.get("prompt") or row.get("description") or (row.get("task") or {}).get("prompt") or "")


def kernel_fingerprints(code: str) -> list[str]:
    """Return the packed MinHash of each kernel of a program. Kernels without any subtree to count are left out."""
    source = Source(code if "__global__" in code else "")
    return list(filter(None, (kernel_fingerprint(source, each) for each in source.functions if each.is_kernel)))


def kernel_fingerprint(source: Source, kernel: Function) -> str:
    """Return the packed MinHash of a kernel together with the functions that it calls; "" if it has no features."""
    return packed(minhash(kernel_features(source, kernel)))


def module_fingerprint(source: str) -> list[str]:
    """Return the fingerprints of a PyTorch module's statements, without docstrings, annotations and comments.

    Returns:
        Three digests and a packed MinHash: a digest with the names, a digest without them, a digest without the sizes
        and inputs, and a MinHash of the tokens. The MinHash keeps names, because they tell which operator the module
        is. It replaces all numbers by 0, because sizes do not tell that.
    """
    text = bare(source)
    shape = ["0" if token.kind == "number" else token.text for token in tokens(text)]
    computed = module_exact(source, inputs=False)
    return [module_exact(source), digest(normalised(text)), computed, packed(minhash(_runs(shape, CODE_SHINGLE)))]


def module_exact(source: str, *, inputs: bool = True) -> str:
    """Return a digest of a module's statements. With `inputs=False` its sizes and inputs are left out."""
    return digest(" ".join(token.text for token in tokens(bare(source, inputs=inputs))))


def prose_fingerprint(text: str) -> list[str]:
    """Return a digest and a packed MinHash of a prompt's words in lower case, without punctuation."""
    words = prose_exact(text)
    return [digest(words), packed(minhash(_runs(words.split(), WORD_SHINGLE)))]


def prose_exact(text: str) -> str:
    """Return the words that `prose_fingerprint` compares, joined by spaces; "" if there are none."""
    return " ".join(match[0].lower() for match in _WORD.finditer(text))


def _runs(words: Sequence[str], length: int) -> list[str]:
    """Return all shingles: runs of `length` consecutive words."""
    return [" ".join(words[i : i + length]) for i in range(len(words) - length + 1)]


def minhash(features: Iterable[str]) -> np.ndarray | None:
    """Return the MinHash of a set of features, uint32 [128]; None for an empty set."""
    encoded = sorted({feature.encode("utf-8", errors="surrogatepass") for feature in features})
    if not encoded:
        return None
    sketch = _EMPTY.copy()
    sketch.update_batch(encoded)
    return np.asarray(sketch.hashvalues, dtype=np.uint32)  # the values have 32 bits


def packed(sketch: np.ndarray | None) -> str:
    """Return a MinHash in base64; "" for None."""
    return "" if sketch is None else base64.b64encode(sketch.tobytes()).decode()


def unpacked(text: str) -> np.ndarray | None:
    """Return the MinHash that `packed` encoded, uint32 [128]; None for ""."""
    return np.frombuffer(base64.b64decode(text), np.uint32) if text else None


def jaccard(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Estimate the Jaccard similarity of MinHashes.

    Args:
        one: uint32 [..., 128].
        other: uint32 [..., 128], of a shape that broadcasts with `one`.

    Returns:
        float32 [...]. The standard error is at most 0.044 with 128 permutations.
    """
    return (one == other).mean(axis=-1, dtype=np.float32)


def device_sketch(fingerprints: dict[str, Any]) -> np.ndarray | None:
    """Return the MinHash of all kernels of a row together, uint32 [128]; None if the row has no kernel.

    The MinHash of a union of sets is the element-wise minimum of their MinHashes.
    """
    sketches = [unpacked(text) for text in fingerprints["kernels"]]
    return np.minimum.reduce(sketches) if sketches else None


_CHUNK = 4096  # pairs of rows compared at a time
_ROUNDS = 64  # rows of one bucket that the other rows of the bucket are compared with
_ODD = np.random.default_rng(1).integers(0, 1 << 63, 16, dtype=np.uint64) * np.uint64(2) + np.uint64(1)


class Sketches:
    """Finds near duplicates among any number of rows by their MinHashes.

    It uses locality-sensitive hashing (Indyk and Motwani 1998): the MinHashes are cut into bands, and rows that agree
    in a band are compared. The bands are so narrow that a pair at the threshold is missed in fewer than one of a
    thousand cases. Bands are processed one after the other. Each is sorted as a whole, so no index of all rows is
    held in memory.

    Args:
        threshold: similarity from which two rows are near duplicates.
        folder: folder for the temporary file that holds the MinHashes. It is created if it does not exist.
    """

    def __init__(self, threshold: float, folder: Path) -> None:
        fitting = (rows for rows in range(16, 1, -1) if (1 - threshold**rows) ** (PERMUTATIONS // rows) < 1e-3)
        self._threshold, self._width = threshold, next(fitting, 1)
        folder.mkdir(parents=True, exist_ok=True)
        self._file = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115 - closed with the object

    def append(self, sketch: np.ndarray | None) -> None:
        """Add the next row's MinHash. None means that the row is similar to no other row."""
        self._file.write((np.zeros(PERMUTATIONS, np.uint32) if sketch is None else sketch).tobytes())

    def duplicates(self, order: np.ndarray, groups: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Find the rows to drop. Of rows that are similar, the first one in `order` stays.

        Args:
            order: row numbers, int64, best first. Rows that are not listed take no part.
            groups: the group of every row, uint64. Only rows of the same group are compared. None: all are compared.

        Returns:
            Two arrays with an entry per row: the number of the row that it duplicates, int64, or -1 if it stays, and
            the similarity of the two, float32. The row that is named may itself be dropped as a duplicate of a third
            row.
        """
        self._file.flush()
        count = self._file.tell() // (4 * PERMUTATIONS)
        matches, similarities = np.full(count, -1, np.int64), np.zeros(count, np.float32)
        if not count:
            return matches, similarities
        sketches = np.memmap(self._file, np.uint32, "r", shape=(count, PERMUTATIONS))
        order = order[sketches.any(axis=1)[order]]
        for start in range(0, PERMUTATIONS - self._width + 1, self._width):
            rows = order[matches[order] < 0]
            band = sketches[:, start : start + self._width][rows]
            hashes = (band * _ODD[: self._width]).sum(axis=1, dtype=np.uint64)
            if groups is not None:
                hashes = (hashes ^ groups[rows]) * _ODD[0]
            places = np.argsort(hashes, kind="stable")  # rows with equal hashes keep their places in `order`
            self._within(rows[places], hashes[places], sketches, matches, similarities)
        return matches, similarities

    def near(self, order: np.ndarray, names: Sequence[str], groups: np.ndarray | None = None) -> Dropped:
        """Return number -> (reason, detail) of the rows that `duplicates` finds. `names` holds those of all rows."""
        matches, similarities = self.duplicates(order, groups)
        dropped: Dropped = {}
        for row in np.flatnonzero(matches >= 0).tolist():
            detail = f"its kernels are like those of {names[matches[row]]} (similarity {similarities[row]:.2f})"
            dropped[row] = "duplicate_near", detail
        return dropped

    def _within(
        self, rows: np.ndarray, bucket: np.ndarray, sketches: np.ndarray, like: np.ndarray, how: np.ndarray
    ) -> None:
        """Compare each bucket's rows with its first row, then the unmatched rows with the first of these, and so on.

        `rows` are sorted by `bucket`. Matches are written to `like`, and similarities to `how`.
        """
        for _ in range(_ROUNDS):
            if len(rows) < 2:
                return
            starts = np.flatnonzero(np.concatenate([[True], bucket[1:] != bucket[:-1]]))
            sizes = np.diff(np.append(starts, len(rows)))
            heads = np.repeat(rows[starts], sizes)
            others = np.ones(len(rows), bool)
            others[starts] = False
            rows, bucket, heads = rows[others], bucket[others], heads[others]
            unmatched = np.ones(len(rows), bool)
            for offset in range(0, len(rows), _CHUNK):
                part = slice(offset, offset + _CHUNK)
                similarity = jaccard(sketches[rows[part]], sketches[heads[part]])
                alike = similarity >= self._threshold
                like[rows[part][alike]], how[rows[part][alike]] = heads[part][alike], similarity[alike]
                unmatched[part] = ~alike
            rows, bucket = rows[unmatched], bucket[unmatched]
