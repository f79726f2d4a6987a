import numpy as np


# Substitution with off-diagonal rows of norm below the diagonal: float32 errors stay near 1e-6 of the values.
TOLERANCE = {"x": (1e-4, 5e-5)}


def make_inputs(rng, batch, n):
    lower = rng.normal(0.0, 0.7 / np.sqrt(n), (batch, n, n))
    lower[:, np.arange(n), np.arange(n)] = rng.uniform(0.8, 2.0, (batch, n)) * rng.choice([-1.0, 1.0], (batch, n))
    i, j = np.triu_indices(n, 1)
    lower[:, i, j] = 500.0
    return {"l": lower.astype(np.float32), "b": rng.normal(0.0, 3.0, (batch, n)).astype(np.float32)}


def reference(inputs):
    lower, b = inputs["l"].astype(np.float64), inputs["b"].astype(np.float64)
    x = np.zeros_like(b)
    for i in range(b.shape[1]):
        x[:, i] = (b[:, i] - np.sum(lower[:, i, :i] * x[:, :i], axis=1)) / lower[:, i, i]
    return {"x": x.astype(np.float32)}
