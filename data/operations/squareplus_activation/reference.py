import numpy as np


# Two roundings in float32 and a square root: far below 1e-5; x near -30 cancels to about 1e-6 absolute.
TOLERANCE = {"y": (1e-5, 5e-6)}


def make_inputs(rng, rows, cols):
    x = rng.normal(0.0, 3.0, (rows, cols))
    x[rng.random((rows, cols)) < 0.02] *= 5.0
    return {"x": x.astype(np.float32)}


def reference(inputs):
    x = inputs["x"].astype(np.float64)
    return {"y": (0.5 * (x + np.sqrt(x * x + 4.0))).astype(np.float32)}
