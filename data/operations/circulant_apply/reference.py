import numpy as np


# float32 sums of up to 2048 products of order one.
TOLERANCE = {"y": (1e-4, 5e-4)}


def make_inputs(rng, batch, n):
    return {"c": rng.normal(0.0, 1.0, n).astype(np.float32), "x": rng.normal(0.2, 1.0, (batch, n)).astype(np.float32)}


def reference(inputs):
    c, x = inputs["c"].astype(np.float64), inputs["x"].astype(np.float64)
    n = len(c)
    matrix = c[(np.arange(n)[:, None] - np.arange(n)[None, :]) % n]
    return {"y": (x @ matrix.T).astype(np.float32)}
