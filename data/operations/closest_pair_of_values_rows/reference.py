import numpy as np


# One float32 subtraction of values on a grid, and integers.
TOLERANCE = {"gap": (0, 0), "first": (0, 0), "second": (0, 0)}


def make_inputs(rng, rows, width):
    return {"x": (rng.integers(-2 * width * width, 2 * width * width, (rows, width)) / 16.0).astype(np.float32)}


def reference(inputs):
    x = inputs["x"]
    rows, width = x.shape
    gap = np.full(rows, np.inf, np.float32)
    first, second = np.zeros(rows, np.int32), np.zeros(rows, np.int32)
    for i in range(width - 1):
        d = np.abs(x[:, i + 1 :] - x[:, i : i + 1])
        j = d.argmin(axis=1)
        best = d[np.arange(rows), j]
        closer = best < gap
        gap = np.where(closer, best, gap)
        first = np.where(closer, i, first)
        second = np.where(closer, i + 1 + j, second)
    return {"gap": gap, "first": first.astype(np.int32), "second": second.astype(np.int32)}
