"""Find out whether an output was computed with a lower precision than the task's, such as TF32 or half for float32.

The error of the answer is compared with the error of the reference. Both errors are measured against the reference in
float64. Another summation order, atomics or a fast exponential have larger errors than PyTorch. But these errors stay
below 2^-14 of the output's spread, where the errors of TF32 and half, with their 11 bits, begin.
"""

import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ..closeness import mapped
from .session import Saved


# By dtype: relative errors below this do not indicate a lower precision. Rounding to half or TF32 has a root mean
# square error of 2^-12.3 of a number.
LEAST = {"float32": 2.0**-14, "float64": 2.0**-27}
TIMES = 10.0  # an error must also exceed the reference's own error by this factor
STRICT_TIMES = 4.0  # the only criterion with strictly=True
SMALL_SPREAD = 64.0  # a spread below 1/64 of the root mean square of the values counts as 1/64 of it
CHUNK = 1 << 20


def lower_precision(
    exact: Sequence[Saved], expected: Sequence[Saved], found: Sequence[Saved], *, strictly: bool = False
) -> str | None:
    """Check whether outputs have a lower precision than expected.

    Args:
        exact: The reference's outputs in float64, as many as the others. If the reference does not run in float64,
            this is empty, and nothing is reported.
        expected: The reference's outputs.
        found: The answer's outputs.
        strictly: For an answer that is known to use tensor cores. With float32, these are exact only if each number is
            split into several numbers of lower precision. The result is then as exact as the reference.

    Returns:
        A message about the first output of lower precision, or None.
    """
    for truth, right, got in zip(exact, expected, found, strict=False):
        dtype = right.dtype.removeprefix("torch.")
        if dtype not in LEAST or truth.dtype != "torch.float64" or truth.shape != right.shape:
            continue
        reference_error, answer_error = (relative_error(truth.path, part.path, dtype) for part in (right, got))
        if answer_error > (STRICT_TIMES * reference_error if strictly else max(LEAST[dtype], TIMES * reference_error)):
            return f"{right.name} is off by {answer_error:.2g} of what it varies by, {dtype} by {reference_error:.2g}"
    return None


def relative_error(exact: Path, found: Path, dtype: str) -> float:
    """Return the root mean square error divided by the spread of the exact values, which are in float64.

    The spread is their standard deviation, because a large mean would hide errors in the terms of a sum. But it is at
    least 1/`SMALL_SPREAD` of their root mean square, because otherwise the rounding of the sums would look large. Only
    elements that are finite in both files count; without any, the result is 0.
    """
    truth, values = mapped(exact, "<f8"), mapped(found, np.dtype(dtype).newbyteorder("<"))
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
