import numpy as np


# Means up to about 20 times the spread are subtracted in float32; the ratio is good to some 1e-6.
TOLERANCE = {"corr": (1e-4, 1e-4)}


def make_inputs(rng, rows, cols):
    rho = rng.uniform(-1.0, 1.0, (rows, 1))
    a, b = rng.standard_normal((2, rows, cols))
    x = a + rng.uniform(-20.0, 20.0, (rows, 1))
    y = (rho * a + np.sqrt(1.0 - rho * rho) * b) * rng.uniform(0.5, 2.0, (rows, 1)) + rng.uniform(
        -20.0, 20.0, (rows, 1)
    )
    y[rng.integers(0, rows, max(1, rows // 20))] = 0.5
    x[rng.integers(0, rows, max(1, rows // 20))] = -2.0
    return {"x": x.astype(np.float32), "y": y.astype(np.float32)}


def reference(inputs):
    x, y = inputs["x"].astype(np.float64), inputs["y"].astype(np.float64)
    x, y = x - x.mean(axis=1, keepdims=True), y - y.mean(axis=1, keepdims=True)
    xx, yy, xy = (x * x).sum(axis=1), (y * y).sum(axis=1), (x * y).sum(axis=1)
    good = (xx >= 1e-12) & (yy >= 1e-12)
    return {"corr": np.where(good, xy / np.sqrt(np.where(good, xx * yy, 1.0)), 0.0).astype(np.float32)}
