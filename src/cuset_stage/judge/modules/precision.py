"""How exact an output is: whether it was computed with a lower precision than the task's, such as TF32 or half for float32.

Errors are held against those of the reference itself, both against the reference in float64: another order of a sum, an atomic, a fast
exponential err more than PyTorch does, but not by 2^-14 of what the output varies by, where TF32's and half's 11 bits begin.
"""

import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from .session import Saved


# Errors below are none of a lower precision, by dtype. Rounding to half or TF32 errs by 2^-12.3 of a number, in the mean square.
LEAST = {"float32": 2.0**-14, "float64": 2.0**-27}
TIMES = 10.0  # as large as the reference's own, or larger
STRICT_TIMES = 4.0
SMALL_SPREAD = 64.0  # a spread of less than the 64th part of the size is taken as that
CHUNK = 1 << 20


def lower_precision(
    exact: Sequence[Saved], expected: Sequence[Saved], found: Sequence[Saved], *, strictly: bool = False
) -> str | None:
    """What is to say about outputs of a lower precision than those expected; None where they are as exact.

    strictly: for an answer that is known to use tensor cores: with float32 they are exact when each number is split into several of lower
    precision, and then as exact as the reference.

    exact: the reference's in float64, as many as the others, or none where it has none: then nothing is said.
    """
    for truth, right, got in zip(exact, expected, found, strict=False):
        dtype = right.dtype.removeprefix("torch.")
        if dtype not in LEAST or truth.dtype != "torch.float64" or truth.shape != right.shape:
            continue
        own, its = (relative_error(truth.path, part.path, dtype) for part in (right, got))
        if its > (STRICT_TIMES * own if strictly else max(LEAST[dtype], TIMES * own)):
            return f"{right.name} is off by {its:.2g} of what it varies by, {dtype} by {own:.2g}"
    return None


def relative_error(exact: Path, found: Path, dtype: str) -> float:
    """Root mean square of the difference over the spread of the exact values, where both are finite; 0 where there are none.

    The spread is their standard deviation, as errors of terms that were added up hide behind a large mean; and not below a share of
    their size, as the rounding of the sums themselves would then look large.
    """
    if not exact.stat().st_size:
        return 0.0
    truth, values = np.memmap(exact, "<f8", "r"), np.memmap(found, np.dtype(dtype).newbyteorder("<"), "r")
    count, error, total, squares = 0, 0.0, 0.0, 0.0
    for start in range(0, truth.size, CHUNK):
        want, got = truth[start : start + CHUNK], values[start : start + CHUNK].astype(np.float64)
        good = np.isfinite(want) & np.isfinite(got)
        want, got = want[good], got[good]
        count += want.size
        error += float(np.square(got - want).sum())
        total += float(want.sum())
        squares += float(np.square(want).sum())
    spread = max(squares - total**2 / max(count, 1), squares / SMALL_SPREAD**2)
    return math.sqrt(error / spread) if spread else 0.0
