import numpy as np


# One float32 product.
TOLERANCE = {"k": (1e-6, 1e-7)}


def make_inputs(rng, p, q, r, s):
    return {"a": rng.normal(0.0, 1.0, (p, q)).astype(np.float32), "b": rng.normal(0.0, 2.0, (r, s)).astype(np.float32)}


def reference(inputs):
    return {"k": np.kron(inputs["a"].astype(np.float64), inputs["b"].astype(np.float64)).astype(np.float32)}
