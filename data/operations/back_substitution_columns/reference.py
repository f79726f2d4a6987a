import numpy as np


# Substitution with small off-diagonal entries: float32 errors near 1e-6 of the values.
TOLERANCE = {"x": (1e-4, 1e-4)}


def make_inputs(rng, n, columns):
    u = rng.normal(0.0, 0.8 / np.sqrt(n), (n, n))
    u[np.tril_indices(n, -1)] = -300.0
    u[np.arange(n), np.arange(n)] = rng.uniform(3.0, 9.0, n)
    return {"u": u.astype(np.float32), "b": rng.normal(0.0, 4.0, (n, columns)).astype(np.float32)}


def reference(inputs):
    u, x = inputs["u"].astype(np.float64), inputs["b"].astype(np.float64)
    for i in range(len(u) - 2, -1, -1):
        x[i] -= u[i, i + 1 :] @ x[i + 1 :]
    return {"x": x.astype(np.float32)}
