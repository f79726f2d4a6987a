import numpy as np


# float32 sums of at most 128 products with cas values that are good to about 1e-6; coefficients of size 10.
TOLERANCE = {"spectrum": (1e-4, 3e-4)}


def make_inputs(rng, rows, length):
    x = rng.normal(0, 1, (rows, length)) + rng.normal(0, 0.5, (rows, 1))
    return {"x": x.astype(np.float32)}


def reference(inputs):
    x = inputs["x"].astype(np.float64)
    n = x.shape[1]
    a = 2 * np.pi * (np.outer(np.arange(n), np.arange(n)) % n) / n
    return {"spectrum": (x @ (np.cos(a) + np.sin(a))).astype(np.float32)}
