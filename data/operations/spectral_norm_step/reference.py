import numpy as np


# Two matrix-vector products in float32 with up to 3000 terms, then division by a length.
TOLERANCE = {"w_normalized": (1e-4, 1e-7), "u_next": (2e-4, 2e-6)}


def make_inputs(rng, rows, cols):
    u = rng.normal(0.0, 1.0, rows)
    w = rng.normal(0.0, 1.0, (rows, cols)) + np.outer(rng.normal(0.0, 1.0, rows), rng.normal(0.0, 0.7, cols))
    return {"w": (w / 20.0).astype(np.float32), "u": (u / np.sqrt((u * u).sum())).astype(np.float32)}


def reference(inputs):
    w, u = inputs["w"].astype(np.float64), inputs["u"].astype(np.float64)
    v = w.T @ u
    z = w @ (v / np.sqrt((v * v).sum()))
    sigma = np.sqrt((z * z).sum())
    return {"w_normalized": (w / sigma).astype(np.float32), "u_next": (z / sigma).astype(np.float32)}
