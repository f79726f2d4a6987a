import numpy as np


# One float32 sum and an exact halving.
TOLERANCE = {"sym": (1e-6, 1e-6), "skew": (1e-6, 1e-6)}


def make_inputs(rng, batch, n):
    return {"a": rng.normal(0.5, 2.0, (batch, n, n)).astype(np.float32)}


def reference(inputs):
    a = inputs["a"].astype(np.float64)
    t = a.transpose(0, 2, 1)
    return {"sym": (0.5 * (a + t)).astype(np.float32), "skew": (0.5 * (a - t)).astype(np.float32)}
