import numpy as np


# Running float32 sums of up to 1500 terms.
TOLERANCE = {"y": (5e-5, 3e-4)}


def make_inputs(rng, rows, cols):
    return {"x": (rng.standard_normal((rows, cols)) + 0.1).astype(np.float32)}


def reference(inputs):
    y = inputs["x"].astype(np.float64)
    for r in range(1, len(y)):
        y[r, 1:] += y[r - 1, :-1]
    return {"y": y.astype(np.float32)}
