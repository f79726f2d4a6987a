import numpy as np


# float32 elimination of systems of order 64 at most with condition numbers below about 100.
TOLERANCE = {"x": (1e-3, 2e-4)}


def make_inputs(rng, batch, n):
    a = rng.normal(0.0, 1.0, (batch, n, n))
    a[:, np.arange(n), np.arange(n)] += 2.5 * np.sqrt(n) * rng.choice([-1.0, 1.0], (batch, n))
    a = np.roll(a, 3, axis=1)
    a[:, 0, 0] = 0.0
    b = rng.normal(0.0, 10.0, (batch, n))
    return {"a": a.astype(np.float32), "b": b.astype(np.float32)}


def reference(inputs):
    a, b = inputs["a"].astype(np.float64), inputs["b"].astype(np.float64)
    return {"x": np.linalg.solve(a, b[:, :, None])[:, :, 0].astype(np.float32)}
