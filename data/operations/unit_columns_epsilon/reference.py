import numpy as np


# Square roots of float32 sums with up to 10000 squares.
TOLERANCE = {"unit": (5e-5, 1e-7), "length": (5e-5, 1e-9)}


def make_inputs(rng, rows, cols):
    a = rng.normal(0.0, 1.0, (rows, cols)) * np.exp(rng.normal(0.0, 1.0, cols))
    tiny = rng.random(cols) < 0.1
    a[:, tiny] *= 3e-8
    a[:, rng.integers(0, cols)] = 0.0
    return {"a": a.astype(np.float32)}


def reference(inputs):
    a = inputs["a"].astype(np.float64)
    length = np.sqrt(np.sum(a * a, axis=0))
    return {"unit": (a / np.maximum(length, 1e-4)).astype(np.float32), "length": length.astype(np.float32)}
