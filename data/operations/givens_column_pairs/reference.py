import numpy as np


# Sine and cosine of angles up to 4 in float32 and two products.
TOLERANCE = {"rotated": (1e-5, 1e-5)}


def make_inputs(rng, rows, pairs):
    return {
        "a": rng.normal(0.0, 2.0, (rows, 2 * pairs)).astype(np.float32),
        "columns": rng.permutation(2 * pairs).reshape(pairs, 2).astype(np.int32),
        "theta": rng.uniform(-4.0, 4.0, pairs).astype(np.float32),
    }


def reference(inputs):
    a, theta = inputs["a"].astype(np.float64), inputs["theta"].astype(np.float64)
    p, q = inputs["columns"].T
    out = np.empty_like(a)
    out[:, p] = np.cos(theta) * a[:, p] - np.sin(theta) * a[:, q]
    out[:, q] = np.sin(theta) * a[:, p] + np.cos(theta) * a[:, q]
    return {"rotated": out.astype(np.float32)}
