import numpy as np


# Dot products of up to 1000 terms in float32 and at most eight vectors at moderate angles.
TOLERANCE = {"q": (1e-4, 2e-5), "r": (5e-5, 3e-4)}


def make_inputs(rng, sets, k, dim):
    common = rng.normal(0.0, 0.7, (sets, 1, dim))
    return {"v": (rng.normal(0.0, 1.0, (sets, k, dim)) + common).astype(np.float32)}


def reference(inputs):
    q = inputs["v"].astype(np.float64)
    sets, k, _ = q.shape
    r = np.zeros((sets, k, k))
    for j in range(k):
        for i in range(j):
            r[:, i, j] = np.sum(q[:, i] * q[:, j], axis=1)
            q[:, j] -= r[:, i, j, None] * q[:, i]
        r[:, j, j] = np.sqrt(np.sum(q[:, j] ** 2, axis=1))
        q[:, j] /= r[:, j, j, None]
    return {"q": q.astype(np.float32), "r": r.astype(np.float32)}
