"""What rows are compared by, made once by `split` and kept in the row under `fingerprints`.

| key | of | is |
|---|---|---|
| `program` | the code, else prompt and reference, else the module | a digest, equal for programs that differ in comments, layout and names |
| `kernels` | each `__global__` function | a MinHash of its normalised subtrees (cuda_source.normal_form) |
| `module` | a PyTorch module | three digests (with and without its names, and without its inputs) and a MinHash of its tokens |
| `prompt` | what the source asks | a digest and a MinHash of its words |

A MinHash (Broder 1997, computed by `datasketch`) has 128 numbers of 32 bits, in base64. Equal numbers estimate the Jaccard similarity.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any

import numpy as np
from datasketch import MinHash

from ..cuda_source import Function, Source, answer_code, kernel_features, normalised, tokens
from .modules import bare, without_inputs
from .stage_rows import Row, digest


PERMUTATIONS = 128
CODE_SHINGLE = 8
WORD_SHINGLE = 5
_WORD = re.compile(r"[^\W_]+")


def fingerprints_of(row: Row, kernels: list[str] | None = None) -> dict[str, Any]:
    """The fingerprints of a row; those that it brings where it went through `split`. kernels: those of its code, where they are known."""
    if isinstance(row.get("fingerprints"), dict):
        return row["fingerprints"]
    code, module = compared_code(row), str(row.get("module_code") or "")
    reference = (row.get("task") or row).get("reference")
    task = digest("task", own_prompt(row), reference) if reference else module_exact(module)
    found: dict[str, Any] = {"program": digest(normalised(code)) if code.strip() else task}
    found["kernels"] = (
        kernel_fingerprints(answer_code(code) if module or row.get("answer") else code) if kernels is None else kernels
    )
    if module.strip():
        found["module"] = module_fingerprint(module)
    if prompt := own_prompt(row):
        found["prompt"] = prose_fingerprint(prompt)
    return found


def compared_code(row: Row) -> str:
    """The code of a row's answer, adapted or as it was imported."""
    if row.get("kind") == "module":
        return str(row.get("answer_code") or "")
    return str(row.get("program") or row.get("code") or row.get("answer") or "")


def own_prompt(row: Row) -> str:
    """What its source asks or says of it, without what `cases` adds of the files; else the user's message."""
    return str(row.get("prompt") or row.get("description") or (row.get("task") or {}).get("prompt") or "")


def kernel_fingerprints(code: str) -> list[str]:
    """The MinHash of each kernel of a program that has a subtree to count."""
    source = Source(code) if "__global__" in code else None
    found = (kernel_fingerprint(source, each) for each in source.functions if each.is_kernel) if source else ()
    return [each for each in found if each]


def kernel_fingerprint(source: Source, kernel: Function) -> str:
    """The MinHash of a kernel with the functions that it calls; empty where no subtree of it says anything."""
    return packed(minhash(kernel_features(source, kernel)))


def module_fingerprint(source: str) -> list[str]:
    """Of a PyTorch module's statements, without docstrings, annotations and comments: digests with and without its names, one of what
    it computes alone, and a MinHash in which names stay, which say what operator it is, and sizes do not."""
    text = bare(source)
    shape = ["0" if token.kind == "number" else token.text for token in tokens(text)]
    computed = module_exact(without_inputs(source))
    return [module_exact(source), digest(normalised(text)), computed, packed(minhash(_runs(shape, CODE_SHINGLE)))]


def module_exact(source: str) -> str:
    """A digest of a module's statements."""
    return digest(" ".join(token.text for token in tokens(bare(source))))


def prose_fingerprint(text: str) -> list[str]:
    """Of a prompt's words in lower case, without punctuation: a digest and a MinHash."""
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
    found = sorted({feature.encode("utf-8", errors="surrogatepass") for feature in features})
    if not found:
        return None
    sketch = _empty().copy()
    sketch.update_batch(found)
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
    found = [unpacked(text) for text in fingerprints["kernels"]]
    return np.minimum.reduce(found) if len(found) > 1 else next(iter(found), None)
