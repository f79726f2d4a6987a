import numpy as np


# The quotient of two positive float32 sums, subtracted from sqrt(cols).
TOLERANCE = {"sparsity": (1e-5, 5e-5), "zeros": (0, 0)}


def make_inputs(rng, rows, cols):
    x = rng.standard_normal((rows, cols)) * np.exp(rng.uniform(-3.0, 3.0, (rows, 1)))
    x[rng.random((rows, cols)) > rng.uniform(0.0, 1.0, (rows, 1)) ** 2] = 0.0
    same = rng.random(rows) < 0.1
    x[same] = np.sign(x[same] + 1e-9) * 0.75
    x[rng.random(rows) < 0.03] = 0.0
    return {"x": x.astype(np.float32)}


def reference(inputs):
    x = inputs["x"].astype(np.float64)
    a, q = np.abs(x).sum(axis=1), np.sqrt((x * x).sum(axis=1))
    root = np.sqrt(x.shape[1])
    h = np.where(q > 0, (root - a / np.where(q > 0, q, 1.0)) / (root - 1.0), 1.0)
    return {"sparsity": h.astype(np.float32), "zeros": (x == 0).sum(axis=1).astype(np.int32)}
