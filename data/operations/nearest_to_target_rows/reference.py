import numpy as np


# One float32 subtraction, done alike everywhere.
TOLERANCE = {"index": (0, 0), "gap": (0, 0)}


def make_inputs(rng, rows, cols):
    x = rng.integers(-40 * cols, 40 * cols, (rows, cols)) / 64.0
    target = rng.integers(-30 * cols, 30 * cols, rows) / 64.0
    return {"x": x.astype(np.float32), "target": target.astype(np.float32)}


def reference(inputs):
    d = np.abs(inputs["x"] - inputs["target"][:, None])
    k = d.argmin(axis=1)
    return {"index": k.astype(np.int32), "gap": d[np.arange(len(k)), k]}
