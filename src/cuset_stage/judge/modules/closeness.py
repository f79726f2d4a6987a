"""Compare the raw bytes of two tensors as torch.allclose does, without torch. Imports numpy."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np


CHUNK = 1 << 22  # elements at a time: a tensor may be larger than what is left of the memory
TOLERANCES = {"torch.float16": 1e-2, "torch.bfloat16": 1e-2, "torch.float32": 1e-4, "torch.float64": 1e-4}
_DTYPES = {
    "torch.float16": np.float16,
    "torch.bfloat16": np.uint16,
    "torch.float32": np.float32,
    "torch.float64": np.float64,
    "torch.complex64": np.complex64,
    "torch.complex128": np.complex128,
    "torch.bool": np.uint8,
    **{f"torch.{sign}int{bits}": np.dtype(f"{sign}int{bits}") for sign in ("", "u") for bits in (8, 16, 32, 64)},
}


@dataclass(frozen=True)
class Closeness:
    """`max_rel_error` is over the elements whose reference is not 0. `first` is the index of the first that differs."""

    close: bool
    max_abs_error: float
    max_rel_error: float
    first: tuple[int, ...] | None = None
    actual: float | complex | None = None
    expected: float | complex | None = None


def element_bytes(dtype: str) -> int | None:
    """Bytes of an element of this torch dtype; None for one that is not compared."""
    found = _DTYPES.get(dtype)
    return None if found is None else np.dtype(found).itemsize


def compare_raw(actual: Path, expected: Path, dtype: str, shape: Sequence[int]) -> Closeness:
    """Whether |actual - expected| <= tol + tol * |expected| everywhere; tol as KernelBench has it for the dtype.

    1e-4 for float32 and float64 (and complex), 1e-2 for float16 and bfloat16, equality for all others. NaN equals
    nothing, an infinity equals itself.
    """
    count = math.prod(shape)
    tolerance = TOLERANCES.get(dtype, 1e-4 if "complex" in dtype else 0.0)
    largest, relative = 0.0, 0.0
    first: tuple | None = None
    with actual.open("rb") as one, expected.open("rb") as other:
        for start in range(0, count, CHUNK):
            number = min(CHUNK, count - start)
            got, want = (_values(file, dtype, number) for file in (one, other))
            with np.errstate(all="ignore"):
                same = got == want
                error = np.where(same, 0, np.abs(got - want))
                size = np.abs(want)
                # an infinity is right only where the same one is expected, though inf <= inf
                good = same | (np.isfinite(error) & (error <= tolerance + tolerance * size)) if tolerance else same
                largest = _largest(largest, error)
                relative = _largest(relative, error[size > 0] / size[size > 0])
            if first is None and not good.all():
                at = int(np.argmin(good))
                place = tuple(int(i) for i in np.unravel_index(start + at, tuple(shape) or (1,)))
                first = (place, got[at].item(), want[at].item())
    if first is None:
        return Closeness(True, largest, relative)
    return Closeness(False, largest, relative, *first)


def _values(file, dtype: str, count: int) -> np.ndarray:
    raw = np.fromfile(file, dtype=_DTYPES[dtype], count=count)
    if dtype == "torch.bfloat16":
        return (raw.astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    return (
        raw.astype(np.float64) if raw.dtype.kind == "f" or (raw.dtype.itemsize < 8 and raw.dtype.kind in "iu") else raw
    )


def _largest(before: float, values: np.ndarray) -> float:
    """NaN counts as infinitely far."""
    if not values.size:
        return before
    found = float(np.max(values))
    return max(before, math.inf if math.isnan(found) else found)
