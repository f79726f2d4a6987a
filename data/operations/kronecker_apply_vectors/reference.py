import numpy as np


# Two chained float32 sums of at most 48 products with standard-normal factors: results of order 50, error about 1e-5 of it.
TOLERANCE = {"y": (5e-5, 1e-3)}


def make_inputs(rng, batch, m, n):
    return {
        "a": rng.normal(0.0, 1.0, (m, m)).astype(np.float32),
        "b": rng.normal(0.0, 1.0, (n, n)).astype(np.float32),
        "x": rng.normal(0.0, 1.0, (batch, m * n)).astype(np.float32),
    }


def reference(inputs):
    a, b = inputs["a"].astype(np.float64), inputs["b"].astype(np.float64)
    x = inputs["x"].astype(np.float64).reshape(-1, len(a), len(b))
    return {"y": np.matmul(np.matmul(a, x), b.T).reshape(inputs["x"].shape).astype(np.float32)}
