import numpy as np


# dx: a few roundings. dbias: float32 sums of up to 5000 terms of size about 1 in any order (1e-7 * 5000 at worst).
TOLERANCE = {"dx": (1e-5, 1e-6), "dbias": (1e-4, 5e-4)}


def make_inputs(rng, rows, cols):
    x = rng.normal(0.0, 2.0, (rows, cols)).astype(np.float32)
    dy = (rng.normal(0.0, 1.0, (rows, cols)) + rng.uniform(-0.5, 0.5, cols)).astype(np.float32)
    return {"x": x, "bias": rng.normal(0.0, 1.0, cols).astype(np.float32), "dy": dy}


def reference(inputs):
    s = inputs["x"].astype(np.float64) + inputs["bias"].astype(np.float64)
    p = 1.0 / (1.0 + np.exp(-s))
    dx = inputs["dy"].astype(np.float64) * p * (1.0 + s * (1.0 - p))
    return {"dx": dx.astype(np.float32), "dbias": dx.sum(axis=0).astype(np.float32)}
