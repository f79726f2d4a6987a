import numpy as np


# Running float32 sums of up to 30000 terms; the weights are positive, so the quotient is well conditioned.
TOLERANCE = {"mean": (1e-4, 5e-5)}


def make_inputs(rng, rows, cols):
    x = rng.standard_normal((rows, cols)) + rng.uniform(-1.0, 1.0, (rows, 1)) + np.sin(np.arange(cols) * 0.01)
    w = rng.random((rows, cols)) * (rng.random((rows, cols)) < 0.6)
    w[:, : cols // 10] *= rng.random((rows, 1)) < 0.6
    return {"x": x.astype(np.float32), "w": w.astype(np.float32)}


def reference(inputs):
    x, w = inputs["x"].astype(np.float64), inputs["w"].astype(np.float64)
    a, b = np.cumsum(w * x, axis=1), np.cumsum(w, axis=1)
    return {"mean": np.where(b > 0, a / np.where(b > 0, b, 1.0), 0.0).astype(np.float32)}
