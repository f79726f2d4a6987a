import numpy as np


# Two float32 dot products of up to 10001 terms; their quotient times v stays near order one.
TOLERANCE = {"reflected": (1e-4, 1e-4)}


def make_inputs(rng, rows, cols):
    v = rng.normal(0.0, 2.0, cols)
    a = rng.normal(0.0, 1.0, (rows, cols)) + rng.normal(0.0, 1.0, (rows, 1)) * v
    return {"a": a.astype(np.float32), "v": v.astype(np.float32)}


def reference(inputs):
    a, v = inputs["a"].astype(np.float64), inputs["v"].astype(np.float64)
    return {"reflected": (a - 2.0 * np.outer(a @ v, v) / (v @ v)).astype(np.float32)}
