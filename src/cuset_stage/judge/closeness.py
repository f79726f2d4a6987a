"""How far the values of two files are apart: the one comparison of outputs, of programs and of modules. Imports numpy.

|actual - expected| <= atol + rtol * |expected|, as torch.allclose has it, in float64. Files hold raw values, little-endian and
row-major, and are read a cache's worth at a time: they may be larger than the memory.
"""

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..tasks.base import FILE_BYTES


CHUNK = 1 << 16  # elements, few enough for a processor's cache
# KernelBench's, absolute and relative, by dtype; other dtypes are compared exactly.
MODULE_TOLERANCES = {
    "float16": 1e-2, "bfloat16": 1e-2, "float32": 1e-4, "float64": 1e-4, "complex64": 1e-4, "complex128": 1e-4,
}  # fmt: skip


@dataclass
class Distance:
    """The differences between an output and its reference. Positions are indices of flat elements.

    max_abs, max_rel: over elements whose reference is finite, the latter where it is not 0. wrong: elements out of tolerance;
    not_finite: those of them that are not finite where the reference is, or NaN where it is not. same: all bytes are; not
    told where NaN equals nothing.
    """

    max_abs: float = 0.0
    max_rel: float = 0.0
    wrong: int = 0
    not_finite: int = 0
    first_wrong: int | None = None
    first_not_finite: int | None = None
    same: bool = True

    @property
    def close(self) -> bool:
        return not self.wrong


def distance(
    expected: Path, actual: Path, dtype: str, count: int, rtol: float, atol: float, *, nan_equal: bool = True
) -> Distance:
    """Compare `count` elements of two files. dtype: a key of FILE_BYTES. nan_equal: whether NaN is right where NaN is expected.

    Raises OSError when a file is shorter.
    """
    result = Distance()
    for start, want, got in _chunks(expected, actual, dtype, count, skip_same=nan_equal):
        result.same = False
        finite, bad = np.isfinite(want), ~np.isfinite(got)
        if bad.any():
            bad &= finite | (np.isnan(got) & ~np.isnan(want))
        if bad.any():
            result.not_finite += int(bad.sum())
            if result.first_not_finite is None:
                result.first_not_finite = start + int(bad.argmax())
        error, size, wrong = _differences(want, got, finite, rtol, atol, nan_equal)
        if wrong.any():
            result.wrong += int(wrong.sum())
            if result.first_wrong is None:
                result.first_wrong = start + int(wrong.argmax())
        if error.size:
            result.max_abs = max(result.max_abs, _largest(error))
            with np.errstate(over="ignore", invalid="ignore"):  # a subnormal reference: infinitely far off
                relative = np.divide(error, size, out=np.zeros_like(size), where=size > 0)
            result.max_rel = max(result.max_rel, _largest(relative))
    return result


def element_at(
    position: int, shape: Sequence[int], expected: Path, actual: Path, dtype: str
) -> tuple[tuple[int, ...], Any, Any]:
    """Index, expected and actual value of the element at a flat position."""
    values = []
    for path in (expected, actual):
        with path.open("rb") as file:
            file.seek(position * FILE_BYTES[dtype])
            values.append(values_of(file.read(FILE_BYTES[dtype]), dtype)[0].item())
    index = tuple(int(part) for part in np.unravel_index(position, tuple(shape))) if len(shape) else ()
    return index, *values


def first_nan(path: Path, dtype: str) -> int | None:
    """The position of the first NaN among all elements of a file."""
    with path.open("rb") as file:
        for start in itertools.count(0, CHUNK):
            raw = file.read(CHUNK * FILE_BYTES[dtype])
            if not raw:
                return None
            if (nan := np.isnan(values_of(raw, dtype))).any():
                return start + int(nan.argmax())


def _chunks(
    expected: Path, actual: Path, dtype: str, count: int, *, skip_same: bool
) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
    """The offset and the next elements of both files; skip_same: not of chunks that are the same to the byte."""
    with expected.open("rb") as reference, actual.open("rb") as output:
        for start in range(0, count, CHUNK):
            size = min(CHUNK, count - start) * FILE_BYTES[dtype]
            want, got = reference.read(size), output.read(size)
            if not len(want) == len(got) == size:
                raise OSError(f"{actual if len(want) == size else expected} became shorter while it was read")
            if want != got or not skip_same:
                yield start, values_of(want, dtype), values_of(got, dtype)


def values_of(raw: bytes, dtype: str) -> np.ndarray:
    """A bool is the byte that stands for it; bfloat16, which NumPy lacks, becomes float64."""
    if dtype == "bfloat16":
        return (np.frombuffer(raw, "<u2").astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    return np.frombuffer(raw, np.dtype("uint8" if dtype == "bool" else dtype).newbyteorder("<"))


def _differences(
    want: np.ndarray, got: np.ndarray, finite: np.ndarray, rtol: float, atol: float, nan_equal: bool
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(|got - want|, |want|) as float64 where the reference is finite, and which elements are out of tolerance.

    Integers are subtracted as integers, so that neither a wrap-around nor float64's 53 bits hide a difference.
    """
    if want.dtype.kind not in "fc":
        unsigned = np.dtype(f"uint{8 * want.dtype.itemsize}")
        high, low = np.maximum(want, got).view(unsigned), np.minimum(want, got).view(unsigned)
        error = (high - low).astype(np.float64)  # modulo 2^bits, which is the distance itself
        size = np.abs(want.astype(np.float64))
        wrong = want != got
        if rtol or atol:
            wrong &= error > atol + rtol * size
        return error, size, wrong
    wide = want.astype(np.complex128 if want.dtype.kind == "c" else np.float64)
    with np.errstate(invalid="ignore", over="ignore"):
        error, size = np.abs(got - wide), np.abs(wide)
        # a complex number may be finite and its modulus not
        wrong = ~(error <= atol + rtol * size) | np.isinf(error) if rtol or atol else want != got
    if finite.all():
        return error, size, wrong
    same = want == got
    if nan_equal:
        same |= np.isnan(want) & np.isnan(got)
    return error[finite], size[finite], np.where(finite, wrong, ~same)


def _largest(values: np.ndarray) -> float:
    """NaN counts as infinitely far."""
    largest = float(values.max(initial=0.0))
    return math.inf if math.isnan(largest) else largest
