"""How far the values of two files are apart: the one comparison of outputs, of programs and of modules. Imports numpy.

Values agree if |actual - expected| <= atol + rtol * |expected| in float64, as in torch.allclose. Files hold raw
values, little-endian and row-major. They are read in chunks that fit into a processor's cache, so they may be larger
than the memory.
"""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from ..tasks.base import FILE_BYTES


CHUNK = 1 << 16  # elements, few enough for a processor's cache
# KernelBench's tolerances by dtype, absolute and relative. Other dtypes are compared exactly.
MODULE_TOLERANCES = {
    "float16": 1e-2, "bfloat16": 1e-2, "float32": 1e-4, "float64": 1e-4, "complex64": 1e-4, "complex128": 1e-4,
}  # fmt: skip


@dataclass
class Distance:
    """The differences between an output and its reference. Positions are indices of flat elements.

    Attributes:
        max_abs: Largest absolute error over elements whose reference is finite.
        max_rel: Largest relative error over elements whose reference is finite and not 0.
        wrong: Number of elements out of tolerance.
        not_finite: How many of them are not finite where the reference is, or NaN where the reference is not NaN.
        first_wrong: Position of the first element out of tolerance, None if there is none.
        first_not_finite: Position of the first element that `not_finite` counts, None if there is none.
        same: Whether all bytes are the same. It says nothing if NaN equals nothing, as every chunk is then compared by
            value.
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
        """Whether all elements are within the tolerance."""
        return not self.wrong


def distance(
    expected: Path, actual: Path, dtype: str, count: int, rtol: float, atol: float, *, nan_equal: bool = True
) -> Distance:
    """Compare the first `count` elements of two files, whose dtype is a key of FILE_BYTES.

    With `nan_equal`, NaN is right where NaN is expected.

    Raises:
        OSError: A file is shorter than that.
    """
    result = Distance()
    with expected.open("rb") as reference, actual.open("rb") as output:
        for start in range(0, count, CHUNK):
            size = min(CHUNK, count - start) * FILE_BYTES[dtype]
            right, written = reference.read(size), output.read(size)
            if not len(right) == len(written) == size:
                raise OSError(f"{actual if len(right) == size else expected} became shorter while it was read")
            if right == written and nan_equal:
                continue
            result.same = False
            want, got = values_of(right, dtype), values_of(written, dtype)
            finite, not_finite = np.isfinite(want), ~np.isfinite(got)
            if not_finite.any():
                not_finite &= finite | (np.isnan(got) & ~np.isnan(want))
            if not_finite.any():
                result.not_finite += int(not_finite.sum())
                if result.first_not_finite is None:
                    result.first_not_finite = start + int(not_finite.argmax())
            error, magnitude, wrong = _differences(want, got, finite, rtol, atol, nan_equal)
            if wrong.any():
                result.wrong += int(wrong.sum())
                if result.first_wrong is None:
                    result.first_wrong = start + int(wrong.argmax())
            if error.size:
                result.max_abs = max(result.max_abs, _largest(error))
                with np.errstate(over="ignore", invalid="ignore"):  # a subnormal reference may give infinity
                    relative = np.divide(error, magnitude, out=np.zeros_like(magnitude), where=magnitude > 0)
                result.max_rel = max(result.max_rel, _largest(relative))
    return result


def element_at(
    position: int, shape: Sequence[int], expected: Path, actual: Path, dtype: str
) -> tuple[tuple[int, ...], Any, Any]:
    """Return the index, the expected value and the actual value of the element at a flat position."""
    values = []
    for path in (expected, actual):
        with path.open("rb") as file:
            file.seek(position * FILE_BYTES[dtype])
            values.append(values_of(file.read(FILE_BYTES[dtype]), dtype)[0].item())
    index = tuple(int(part) for part in np.unravel_index(position, tuple(shape))) if len(shape) else ()
    return index, *values


def first_nan(path: Path, dtype: str) -> int | None:
    """Return the position of the first NaN among all elements of a file, or None."""
    with path.open("rb") as file:
        for start in itertools.count(0, CHUNK):
            raw = file.read(CHUNK * FILE_BYTES[dtype])
            if not raw:
                return None
            if (nan := np.isnan(values_of(raw, dtype))).any():
                return start + int(nan.argmax())


def values_of(raw: bytes, dtype: str) -> np.ndarray:
    """Return the values in a file's bytes as a flat array.

    A bool becomes the uint8 that it is stored as. bfloat16, which NumPy lacks, becomes float64.
    """
    if dtype == "bfloat16":
        return (np.frombuffer(raw, "<u2").astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    return np.frombuffer(raw, np.dtype("uint8" if dtype == "bool" else dtype).newbyteorder("<"))


def mapped(path: Path, dtype: DTypeLike) -> np.ndarray:
    """Map a file into memory as a flat array of its whole elements. NumPy itself cannot map an empty file."""
    count = path.stat().st_size // np.dtype(dtype).itemsize
    return np.memmap(path, dtype, "r", shape=(count,)) if count else np.empty(0, dtype)


def _differences(
    want: np.ndarray, got: np.ndarray, finite: np.ndarray, rtol: float, atol: float, nan_equal: bool
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the differences between two chunks.

    Integers are subtracted as integers, so that neither a wrap-around nor float64's 53 bits hide a difference.

    Returns:
        |got - want| and |want| as float64, only where the reference is finite, and a mask of all elements that are out
        of tolerance.
    """
    if want.dtype.kind not in "fc":
        unsigned = np.dtype(f"uint{8 * want.dtype.itemsize}")
        high, low = np.maximum(want, got).view(unsigned), np.minimum(want, got).view(unsigned)
        error = (high - low).astype(np.float64)  # the difference modulo 2^bits, which is exact
        magnitude = np.abs(want.astype(np.float64))
        wrong = want != got
        if rtol or atol:
            wrong &= error > atol + rtol * magnitude
        return error, magnitude, wrong
    wide = want.astype(np.complex128 if want.dtype.kind == "c" else np.float64)
    with np.errstate(invalid="ignore", over="ignore"):
        error, magnitude = np.abs(got - wide), np.abs(wide)
        # The modulus of a finite complex number may overflow to infinity.
        wrong = ~(error <= atol + rtol * magnitude) | np.isinf(error) if rtol or atol else want != got
    if finite.all():
        return error, magnitude, wrong
    same = want == got
    if nan_equal:
        same |= np.isnan(want) & np.isnan(got)
    return error[finite], magnitude[finite], np.where(finite, wrong, ~same)


def _largest(values: np.ndarray) -> float:
    """Return the largest value, or 0.0 if there is none. NaN counts as infinity."""
    largest = float(values.max(initial=0.0))
    return math.inf if math.isnan(largest) else largest
