import numpy as np


# a - b is rounded once relative to |a|, so error is good to about 1e-7 absolutely; flags have a 20 % margin.
TOLERANCE = {"error": (1e-5, 3e-7), "close": (0, 0)}


def make_inputs(rng, n):
    b = (rng.normal(0.0, 1.0, n) * 10.0 ** rng.uniform(-4.0, 3.0, n)).astype(np.float32)
    b[rng.random(n) < 0.03] = 0.0
    limit = 1e-4 + 1e-3 * np.abs(b.astype(np.float64))
    factor = np.where(rng.random(n) < 0.5, rng.uniform(0.0, 0.8, n), 10.0 ** rng.uniform(0.1, 3.5, n))
    a = b + limit * factor * rng.choice([-1.0, 1.0], n)
    a[rng.random(n) < 0.02] = 0.0
    a = a.astype(np.float32)
    gap = np.abs(a.astype(np.float64) - b) / limit
    return {"a": np.where((gap > 0.9) & (gap < 1.1), b, a).astype(np.float32), "b": b}


def reference(inputs):
    a, b = inputs["a"].astype(np.float64), inputs["b"].astype(np.float64)
    total = np.abs(a) + np.abs(b)
    error = np.where(total > 0, 2.0 * np.abs(a - b) / np.where(total > 0, total, 1.0), 0.0)
    return {"error": error.astype(np.float32), "close": (np.abs(a - b) <= 1e-4 + 1e-3 * np.abs(b)).astype(np.uint8)}
