import numpy as np


# Values are copied: exact.
TOLERANCE = {"y": (0, 0), "cutoff": (0, 0)}


def make_inputs(rng, rows, cols):
    x = np.argsort(rng.random((rows, cols)), axis=1) - rng.integers(cols // 2, cols, (rows, 1)) + 0.5
    return {"x": (x / 16.0).astype(np.float32)}


def reference(inputs):
    x = inputs["x"]
    k = x.shape[1] // 8
    cutoff = np.partition(x, x.shape[1] - k, axis=1)[:, x.shape[1] - k]
    return {"y": np.where(x >= cutoff[:, None], x, np.float32(0.0)), "cutoff": cutoff}
