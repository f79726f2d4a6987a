import numpy as np


# float32 dot products of up to 30000 terms (values up to a few hundred), then at most 12 more products.
TOLERANCE = {"y": (1e-4, 5e-3)}


def make_inputs(rng, batch, n, rank):
    return {
        "d": rng.normal(0.0, 3.0, n).astype(np.float32),
        "u": rng.normal(0.0, 0.3, (n, rank)).astype(np.float32),
        "v": rng.normal(0.0, 0.5, (n, rank)).astype(np.float32),
        "x": rng.normal(0.1, 1.0, (batch, n)).astype(np.float32),
    }


def reference(inputs):
    d, u, v, x = (inputs[k].astype(np.float64) for k in ("d", "u", "v", "x"))
    return {"y": (d * x + (x @ v) @ u.T).astype(np.float32)}
