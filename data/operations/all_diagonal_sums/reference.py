import numpy as np


# Float32 sums of up to 1500 terms of size 1 with cancellation.
TOLERANCE = {"sums": (3e-5, 2e-4)}


def make_inputs(rng, rows, cols):
    r, c = np.arange(rows)[:, None], np.arange(cols)[None, :]
    return {"a": (rng.standard_normal((rows, cols)) + 0.5 * np.sin(0.05 * (c - r))).astype(np.float32)}


def reference(inputs):
    a = inputs["a"]
    rows, cols = a.shape
    k = np.arange(cols)[None, :] - np.arange(rows)[:, None] + rows - 1
    sums = np.bincount(k.ravel(), weights=a.ravel().astype(np.float64), minlength=rows + cols - 1)
    return {"sums": sums.astype(np.float32)}
