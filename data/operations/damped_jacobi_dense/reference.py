import numpy as np


# Eight sweeps of float32 sums of up to 3001 products; the residual is a difference of numbers of order 50.
TOLERANCE = {"x": (1e-4, 1e-5), "residual": (1e-3, 1e-3)}


def make_inputs(rng, n):
    a = rng.normal(0.0, 1.0, (n, n))
    a[np.arange(n), np.arange(n)] = (rng.uniform(1.6, 2.5, n) * np.sqrt(n)) * rng.choice([-1.0, 1.0], n)
    return {
        "a": a.astype(np.float32),
        "b": rng.normal(0.0, 30.0, n).astype(np.float32),
        "x0": rng.normal(0.0, 2.0, n).astype(np.float32),
    }


def reference(inputs):
    a, b, x = (inputs[k].astype(np.float64) for k in ("a", "b", "x0"))
    diagonal = np.diag(a)
    for _ in range(8):
        x = x + 0.8 * (b - a @ x) / diagonal
    return {"x": x.astype(np.float32), "residual": (b - a @ x).astype(np.float32)}
