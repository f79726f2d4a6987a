import numpy as np


# Three float32 operations; both branches agree at the thresholds, so no decision matters.
TOLERANCE = {"y": (1e-5, 2e-6)}


def make_inputs(rng, rows, cols):
    tl = rng.uniform(-1.5, -0.1, cols)
    params = np.stack([rng.uniform(0.1, 1.5, cols), rng.uniform(-0.5, 1.5, cols), tl, rng.uniform(-0.5, 0.8, cols)])
    return {"x": rng.normal(0.0, 1.7, (rows, cols)).astype(np.float32), "params": params.astype(np.float32)}


def reference(inputs):
    x = inputs["x"].astype(np.float64)
    tr, ar, tl, al = inputs["params"].astype(np.float64)
    y = np.where(x >= tr, tr + ar * (x - tr), np.where(x <= tl, tl + al * (x - tl), x))
    return {"y": y.astype(np.float32)}
