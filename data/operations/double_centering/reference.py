import numpy as np


# Means of up to 5000 float32 values of size 10 (1e-5 at worst), combined with cancellation.
TOLERANCE = {"centred": (5e-5, 1e-4)}


def make_inputs(rng, rows, cols):
    a = rng.normal(0.0, 1.0, (rows, cols)) + rng.normal(2.0, 3.0, (rows, 1)) + rng.normal(0.0, 3.0, cols)
    return {"a": a.astype(np.float32)}


def reference(inputs):
    a = inputs["a"].astype(np.float64)
    out = a - a.mean(axis=1, keepdims=True) - a.mean(axis=0) + a.mean()
    return {"centred": out.astype(np.float32)}
