import numpy as np


# Elimination of diagonally dominant matrices in float32.
TOLERANCE = {"lu": (1e-4, 5e-5)}


def make_inputs(rng, batch, n):
    a = rng.normal(0.0, 1.0, (batch, n, n))
    i = np.arange(n)
    a[:, i, i] = np.abs(a).sum(axis=2) * rng.uniform(0.8, 1.3, (batch, n)) * rng.choice([-1.0, 1.0], (batch, n))
    return {"a": a.astype(np.float32)}


def reference(inputs):
    lu = inputs["a"].astype(np.float64)
    for k in range(lu.shape[1] - 1):
        lu[:, k + 1 :, k] /= lu[:, k, k][:, None]
        lu[:, k + 1 :, k + 1 :] -= lu[:, k + 1 :, k, None] * lu[:, k, None, k + 1 :]
    return {"lu": lu.astype(np.float32)}
