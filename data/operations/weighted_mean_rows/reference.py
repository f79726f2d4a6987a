import numpy as np


# Two float32 sums of up to 7000 terms with values near 3: relative 1e-5 is ample, the mean stays away from 0.
TOLERANCE = {"mean": (5e-5, 2e-5)}


def make_inputs(rng, rows, cols):
    x = rng.normal(0.0, 2.0, (rows, cols)) + rng.uniform(-3.0, 3.0, (rows, 1))
    w = rng.random((rows, cols)) * (rng.random((rows, cols)) < 0.7)
    w[rng.integers(0, rows, max(1, rows // 12))] = 0.0
    return {"x": x.astype(np.float32), "w": w.astype(np.float32)}


def reference(inputs):
    x, w = inputs["x"].astype(np.float64), inputs["w"].astype(np.float64)
    total = w.sum(axis=1)
    return {"mean": np.where(total > 0, (x * w).sum(axis=1) / np.where(total > 0, total, 1.0), 0.0).astype(np.float32)}
