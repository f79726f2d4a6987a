"""How alike two sources or two prompts are: equal, equal but for names and layout, or largely the same.

Largely the same means an estimated Jaccard similarity of their shingles (Broder 1997) by MinHash, as `datasketch` computes it.
A shingle of a program is a run of tokens in which every name the program chose is the same word, so that neither renaming nor
reformatting hides a copy; of a prompt, a run of words.
"""

from __future__ import annotations

import os
import pickle
import re
import tempfile
from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from datasketch import MinHash

from ..cuda_source import Token, chosen_names, functions, normalised, tokens
from .module_text import bare, renamed
from .stage_rows import digest


PERMUTATIONS = 128
CODE_SHINGLE = 8
WORD_SHINGLE = 5
KERNEL_TOKENS = 40  # a shorter kernel (an element-wise one) is common property
_ODD = np.random.default_rng(1).integers(0, 1 << 63, 16, dtype=np.uint64) * np.uint64(2) + np.uint64(1)
_WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True)
class Part:
    """A `__global__` or `__device__` function: the digest of its normalised body, and its MinHash where it is long enough."""

    normalised: str
    near: np.ndarray | None


@dataclass(frozen=True)
class Print:
    """What is compared of one source. exact: comments and spaces aside. normalised: names aside, too. kernels: the same of each
    long `__global__` function. near: MinHash of the whole, None for a source that is shorter than a shingle. parts: its device code.
    """

    exact: str
    normalised: str
    kernels: tuple[str, ...]
    near: np.ndarray | None
    parts: tuple[Part, ...] = ()


@lru_cache(maxsize=2)  # a row is held against benchmarks and against the other rows
def code_print(source: str) -> Print:
    """The fingerprint of a program, whatever it is written in. Never raises."""
    words = tokens(source)
    kernels: list[str] = []
    parts: list[Part] = []
    for each in functions(source):
        if each.is_kernel or each.is_device:
            body = each.body_text(source)
            inner = tokens(body)
            part = Part(digest(normalised(body)), _minhash(_shingles(inner)) if len(inner) >= KERNEL_TOKENS else None)
            parts.append(part)
            if each.is_kernel and part.near is not None:
                kernels.append(part.normalised)
    whole = digest(" ".join(token.text for token in words))
    return Print(whole, digest(normalised(source)), tuple(kernels), _minhash(_shingles(words)), tuple(parts))


def _shingles(words: Sequence[Token]) -> list[str]:
    """Runs of tokens in which every name the program chose is `_`."""
    return _runs(["_" if own else token.text for token, own in zip(words, chosen_names(words), strict=True)])


def _runs(words: Sequence[str], length: int = CODE_SHINGLE) -> list[str]:
    return [" ".join(words[i : i + length]) for i in range(len(words) - length + 1)]


def module_print(source: str) -> Print:
    """The fingerprint of a PyTorch module: its statements, without docstrings, annotations and comments. Never raises.

    Modules are short, and what they say in prose is most of the text of many. In `near` names stay, which say what operator it is, and sizes do not.
    """
    text = bare(source)
    shape = ["0" if token.kind == "number" else token.text for token in tokens(text)]
    return Print(module_exact(source), digest(renamed(source) or normalised(text)), (), _minhash(_runs(shape)))


def module_exact(source: str) -> str:
    """`module_print(source).exact` alone, which is quick."""
    return digest(" ".join(token.text for token in tokens(bare(source))))


def same_device_code(one: Print, other: Print, threshold: float) -> bool:
    """Whether each device function of one program has its like in the other, and the other way round.

    Programs of a few lines of device code share most of their text, the reading and writing of files, and are not the same for
    that. A short function has to be equal but for names, a long one similar.
    """

    def has_like(part: Part, parts: tuple[Part, ...]) -> bool:
        return any(
            part.normalised == each.normalised
            or (part.near is not None and each.near is not None and jaccard(part.near, each.near) >= threshold)
            for each in parts
        )

    return all(has_like(part, other.parts) for part in one.parts) and all(
        has_like(part, one.parts) for part in other.parts
    )


def prose_print(text: str) -> Print:
    """The fingerprint of a prompt: its words in lower case, without punctuation."""
    words = prose_exact(text)
    whole = digest(words)
    return Print(whole, whole, (), _minhash(_runs(words.split(), WORD_SHINGLE)))


def prose_exact(text: str) -> str:
    """The words that `prose_print` compares; empty where there are none."""
    return " ".join(match[0].lower() for match in _WORD.finditer(text))


def jaccard(one: np.ndarray, other: np.ndarray) -> float:
    """The estimate from two MinHashes; its standard error is at most 0.044 with 128 permutations."""
    return float(np.count_nonzero(one == other)) / len(one)


def _minhash(shingles: Iterable[str]) -> np.ndarray | None:
    found = {shingle.encode("utf-8", errors="surrogatepass") for shingle in shingles}
    if not found:
        return None
    sketch = MinHash(num_perm=PERMUTATIONS, seed=1)
    sketch.update_batch(sorted(found))
    return np.asarray(sketch.hashvalues, dtype=np.uint32)  # the values have 32 bits


class OnDisk:
    """A list of objects that lies in a temporary file; memory holds 8 bytes of each. folder: where the file is, before it has a name."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._file = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115 - closed with the list
        self._offsets = array("Q")

    def append(self, value: object) -> None:
        self._offsets.append(self._file.seek(0, os.SEEK_END))
        pickle.dump(value, self._file)

    def __getitem__(self, number: int) -> Any:
        self._file.seek(self._offsets[number])
        return pickle.load(self._file)

    def __len__(self) -> int:
        return len(self._offsets)


class NearIndex:
    """Finds prints whose estimated similarity is at least a threshold. A print is known by its place, from 0 in the order they came.

    The bands are those of locality-sensitive hashing (Indyk and Motwani 1998), cut so narrow that a pair at the threshold is missed
    in fewer than one of a thousand cases; what they find is then checked against the estimate itself. All of it lies in files of
    `folder` that the system maps into memory while there is room: 128 * 4 bytes of a print, and 12 at most of each of its bands.
    """

    def __init__(self, threshold: float, capacity: int, folder: Path | None = None) -> None:
        def mapped(*shape: int, dtype: type = np.int32) -> np.memmap:
            with tempfile.TemporaryFile(dir=folder) as file:
                return np.memmap(file, dtype, "w+", shape=shape)  # zeros

        self.threshold, self._count = threshold, 0
        self._rows = _band_rows(threshold)
        self._bands = np.arange(PERMUTATIONS // self._rows)
        capacity = max(1, capacity)
        self._prints = mapped(capacity, PERMUTATIONS, dtype=np.uint32)
        # A band's prints with one hash are a chain: its last one, and of each the one before. Numbered from 1, as 0 ends it.
        self._last = mapped(len(self._bands), 1 << capacity.bit_length())
        self._before = mapped(capacity, len(self._bands))

    def add(self, near: np.ndarray) -> None:
        slots = self._slots(near)
        self._prints[self._count] = near
        self._before[self._count] = self._last[self._bands, slots]
        self._count += 1
        self._last[self._bands, slots] = self._count

    def matches(self, near: np.ndarray | None) -> Iterator[tuple[int, float]]:
        """(place, estimate) of every print at or above the threshold, in the order of their places."""
        if near is None:
            return
        found: set[int] = set()
        for band, slot in enumerate(self._slots(near)):
            number = int(self._last[band, slot])
            while number:
                found.add(number - 1)
                number = int(self._before[number - 1, band])
        for place in sorted(found):
            estimate = jaccard(self._prints[place], near)
            if estimate >= self.threshold:
                yield place, estimate

    def _slots(self, near: np.ndarray) -> np.ndarray:
        """A hash of each band."""
        bands = near[: len(self._bands) * self._rows].astype(np.uint64).reshape(-1, self._rows)
        mixed = (bands * _ODD[: self._rows]).sum(axis=1, dtype=np.uint64) * _ODD[0]
        return ((mixed >> np.uint64(32)) & np.uint64(self._last.shape[1] - 1)).astype(np.int64)


def _band_rows(threshold: float) -> int:
    """The widest band that misses a pair at the threshold with a probability below 0.001."""
    for rows in range(16, 1, -1):
        if (1 - threshold**rows) ** (PERMUTATIONS // rows) < 1e-3:
            return rows
    return 1


def compared_code(row: dict[str, object]) -> str:
    """The code of a row's answer, adapted or as it was imported."""
    if row.get("kind") == "module":
        return str(row.get("answer_code") or "")
    return str(row.get("program") or row.get("code") or row.get("answer") or "")


def row_print(row: dict[str, object]) -> Print | None:
    """What a row is known by among others: its answer's code, or its module where it is a task without an answer.

    Of the latter only equal ones are the same: modules are short, and one operator in place of another changes little of them.
    """
    code = compared_code(row)
    if code.strip():
        return code_print(code)
    module = str(row.get("module_code") or "")
    return replace(module_print(module), near=None) if module.strip() else None
