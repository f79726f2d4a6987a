import numpy as np


# Copied values and integers.
TOLERANCE = {"packed": (0, 0), "columns": (0, 0), "count": (0, 0)}


def make_inputs(rng, rows, cols):
    x = rng.standard_normal((rows, cols))
    x[rng.random((rows, cols)) > rng.uniform(0.3, 1.0, (rows, 1))] = 0.0
    return {"x": x.astype(np.float32)}


def reference(inputs):
    x = inputs["x"]
    r, c = np.nonzero(x)
    count = np.bincount(r, minlength=len(x))
    place = np.arange(len(r)) - np.repeat(np.cumsum(count) - count, count)
    packed, columns = np.zeros_like(x), np.full(x.shape, -1, np.int32)
    packed[r, place] = x[r, c]
    columns[r, place] = c
    return {"packed": packed, "columns": columns, "count": count.astype(np.int32)}
