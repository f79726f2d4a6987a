import numpy as np


TOLERANCE = {"dots": (1e-4, 1e-3)}


def make_inputs(rng, rows, cols, values="cancelling"):
    # Two thirds of the columns cancel in pairs of terms near 1e6; the rest is of size 1 and makes the result.
    pairs = cols // 3
    a, b = rng.normal(0.0, 1.0, (rows, cols)), rng.normal(0.0, 1.0, (rows, cols))
    a[:, : 2 * pairs] *= 1000.0
    b[:, : 2 * pairs] *= 1000.0
    a, b = a.astype(np.float32), b.astype(np.float32)
    a[:, pairs : 2 * pairs] = a[:, :pairs]
    b[:, pairs : 2 * pairs] = -b[:, :pairs]
    if values == "exact cancellation":  # results that are exactly 0, and rows of zeros
        a[::2, 2 * pairs :] = 0.0
        b[::5] = 0.0
    order = rng.permutation(cols)
    return {
        "sizes": np.array([rows, cols], dtype=np.int32),
        "a": np.ascontiguousarray(a[:, order]),
        "b": np.ascontiguousarray(b[:, order]),
    }


def reference(inputs):
    # A product of two floats is exact in float64; what the pairwise sum loses is far below the tolerance.
    return {"dots": np.sum(inputs["a"].astype(np.float64) * inputs["b"], axis=1).astype(np.float32)}
