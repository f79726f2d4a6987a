import numpy as np


# An interpolation with a few float32 roundings.
TOLERANCE = {"y": (1e-5, 1e-5)}


def make_inputs(rng, rows, cols):
    x = rng.normal(0.0, 3.0, (rows, cols))
    known = rng.random((rows, cols)) < rng.uniform(0.05, 0.8, (rows, 1))
    known[rng.integers(0, rows)] = False
    x[~known] = 1e6
    return {"x": x.astype(np.float32), "known": known.astype(np.uint8)}


def reference(inputs):
    x, k = inputs["x"].astype(np.float64), inputs["known"] != 0
    cols = x.shape[1]
    c = np.arange(cols)
    p = np.maximum.accumulate(np.where(k, c, -1), axis=1)
    q = np.minimum.accumulate(np.where(k, c, cols)[:, ::-1], axis=1)[:, ::-1]
    left = np.take_along_axis(x, np.maximum(p, 0), axis=1)
    right = np.take_along_axis(x, np.minimum(q, cols - 1), axis=1)
    y = np.where(q > p, left + (right - left) * (c - p) / np.maximum(q - p, 1), left)
    y = np.where(p < 0, right, np.where(q >= cols, left, y))
    return {"y": np.where((p < 0) & (q >= cols), 0.0, y).astype(np.float32)}
