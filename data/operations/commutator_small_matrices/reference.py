import numpy as np


# Sums of 60 float32 products of order one, with cancellation.
TOLERANCE = {"c": (2e-5, 1e-4)}


def make_inputs(rng, count, n):
    return {
        "a": rng.normal(0.0, 1.0, (count, n, n)).astype(np.float32),
        "b": rng.uniform(-2.0, 2.0, (count, n, n)).astype(np.float32),
    }


def reference(inputs):
    a, b = inputs["a"].astype(np.float64), inputs["b"].astype(np.float64)
    return {"c": (np.matmul(a, b) - np.matmul(b, a)).astype(np.float32)}
