import numpy as np


# float32 sums of up to 200000 products of order one.
TOLERANCE = {"trace": (1e-4, 2e-2)}


def make_inputs(rng, batch, m, n):
    a = rng.normal(0.0, 1.0, (batch, m, n))
    b = 0.3 * a.transpose(0, 2, 1) * rng.choice([-1.0, 1.0], (batch, 1, 1)) + rng.normal(0.1, 1.0, (batch, n, m))
    return {"a": a.astype(np.float32), "b": b.astype(np.float32)}


def reference(inputs):
    a, b = inputs["a"].astype(np.float64), inputs["b"].astype(np.float64)
    return {"trace": np.sum(a * b.transpose(0, 2, 1), axis=(1, 2)).astype(np.float32)}
