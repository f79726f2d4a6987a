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
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from datasketch import MinHash

from ..cuda_source import Token, chosen_names, functions, normalised, tokens
from .modules import bare
from .stage_rows import digest


PERMUTATIONS = 128
CODE_SHINGLE = 8
WORD_SHINGLE = 5
KERNEL_TOKENS = 40  # a shorter kernel (an element-wise one) is common property
_ODD = np.random.default_rng(1).integers(0, 1 << 63, 17, dtype=np.uint64) * np.uint64(2) + np.uint64(1)
_WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True)
class Print:
    """What is compared of one source. exact: comments and spaces aside. normalised: names aside, too. near: MinHash of the whole, None
    for a source that is shorter than a shingle.

    kernels: the normalised bodies of its long `__global__` functions. Of all `__global__` and `__device__` functions, long: the MinHash
    of each long one; short: one digest of the normalised bodies of the others.
    """

    exact: str
    normalised: str
    near: np.ndarray | None
    kernels: tuple[str, ...] = ()
    long: tuple[np.ndarray, ...] = ()
    short: str = ""


@lru_cache(maxsize=2)  # a row is held against benchmarks and against the other rows
def code_print(source: str) -> Print:
    """The fingerprint of a program, whatever it is written in. Never raises."""
    words = tokens(source)
    kernels, long, short = [], [], set()
    for each in functions(source):
        if each.is_kernel or each.is_device:
            body = each.body_text(source)
            inner, found = tokens(body), digest(normalised(body))
            if len(inner) < KERNEL_TOKENS:
                short.add(found)
                continue
            long.append(_minhash(_shingles(inner)))
            kernels += [found] if each.is_kernel else []
    whole = digest(" ".join(token.text for token in words))
    near = _minhash(_shingles(words))
    return Print(whole, digest(normalised(source)), near, tuple(kernels), tuple(long), digest(*sorted(short)))


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
    return Print(module_exact(source), digest(normalised(text)), _minhash(_runs(shape)))


def module_exact(source: str) -> str:
    """`module_print(source).exact` alone, which is quick."""
    return digest(" ".join(token.text for token in tokens(bare(source))))


def is_near(one: Print, other: Print, threshold: float) -> bool:
    """Whether two programs are largely the same, and each device function of one has its like in the other, and the other way round.

    Programs of a few lines of device code share most of their text, the reading and writing of files, and are not the same for
    that. Short functions have to be equal but for names, a long one similar.
    """
    if one.short != other.short or jaccard(one.near, other.near) < threshold:
        return False
    alike = np.array([[jaccard(a, b) >= threshold for b in other.long] for a in one.long], dtype=bool)
    alike = alike.reshape(len(one.long), len(other.long))
    return bool(alike.any(axis=1).all() and alike.any(axis=0).all())


def prose_print(text: str) -> Print:
    """The fingerprint of a prompt: its words in lower case, without punctuation."""
    words = prose_exact(text)
    whole = digest(words)
    return Print(whole, whole, _minhash(_runs(words.split(), WORD_SHINGLE)))


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
    """Finds programs whose device code (the whole, of those that have none) may be near that of one that was added before.

    The bands are those of locality-sensitive hashing (Indyk and Motwani 1998), cut so narrow that a pair at the threshold is missed
    in fewer than one of a thousand cases. Short functions, which have to be equal, are a part of each band's hash. A program is known
    by its place, from 0 in the order they came, and takes 13 bytes at most of each band.
    """

    def __init__(self, threshold: float, capacity: int) -> None:
        fitting = (rows for rows in range(16, 1, -1) if (1 - threshold**rows) ** (PERMUTATIONS // rows) < 1e-3)
        self._rows = next(fitting, 1)
        self._bands = np.arange(PERMUTATIONS // self._rows)
        # A band's programs with one hash are a chain: its last one, and of each the one before. Numbered from 1, as 0 ends it.
        self._last = np.zeros((len(self._bands), 1 << capacity.bit_length()), np.int32)
        self._before = np.zeros((capacity, len(self._bands)), np.int32)
        self._tags = np.zeros((capacity, len(self._bands)), np.uint8)  # of those in a chain few have the same hash
        self._count = 0

    def add(self, found: Print) -> None:
        slots, self._tags[self._count] = self._slots(found)
        self._before[self._count] = self._last[self._bands, slots]
        self._count += 1
        self._last[self._bands, slots] = self._count

    def candidates(self, found: Print) -> list[int]:
        """The places of the programs that share a band with this one."""
        places: set[int] = set()
        for band, (slot, tag) in enumerate(zip(*self._slots(found), strict=True)):
            number = int(self._last[band, slot])
            while number:
                if self._tags[number - 1, band] == tag:
                    places.add(number - 1)
                number = int(self._before[number - 1, band])
        return sorted(places)

    def _slots(self, found: Print) -> tuple[np.ndarray, np.ndarray]:
        """A hash of each band: its chain, and eight bits more. The MinHash of all long functions together is the least of each of its values."""
        near = np.minimum.reduce(found.long) if found.long else found.near
        bands = near[: len(self._bands) * self._rows].astype(np.uint64).reshape(-1, self._rows)
        salt = np.full((len(bands), 1), int(found.short[:16], 16), np.uint64)
        mixed = (np.hstack([bands, salt]) * _ODD[: self._rows + 1]).sum(axis=1, dtype=np.uint64) * _ODD[0]
        slots = (mixed >> np.uint64(24)) & np.uint64(self._last.shape[1] - 1)
        return slots.astype(np.int64), (mixed >> np.uint64(56)).astype(np.uint8)


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
