import numpy as np


# A float32 sum of up to 25000 logarithms of both signs.
TOLERANCE = {"sign": (0, 0), "logabs": (5e-5, 5e-3)}


def make_inputs(rng, rows, cols):
    x = np.exp(rng.normal(0.0, 0.8, (rows, cols)) + rng.uniform(-0.5, 0.5, (rows, 1)))
    x *= np.where(rng.random((rows, cols)) < 0.4, -1.0, 1.0)
    r = np.nonzero(rng.random(rows) < 0.15)[0]
    x[r, rng.integers(0, cols, len(r))] = 0.0
    return {"x": x.astype(np.float32)}


def reference(inputs):
    x = inputs["x"].astype(np.float64)
    zero = (x == 0).any(axis=1)
    sign = np.where(zero, 0, 1 - 2 * ((x < 0).sum(axis=1) % 2))
    logs = np.log(np.abs(np.where(x == 0, 1.0, x))).sum(axis=1)
    return {"sign": sign.astype(np.int32), "logabs": np.where(zero, 0.0, logs).astype(np.float32)}
