import numpy as np


# Two exponentials; b - a cancels where the model fits, hence the absolute part for values of size 10.
TOLERANCE = {"grad": (5e-5, 2e-5), "hess": (2e-5, 1e-9)}


def make_inputs(rng, n):
    s = rng.normal(0.5, 1.2, n)
    y = np.where(rng.random(n) < 0.5, 0.0, np.exp(s) * rng.gamma(2.0, 1.0, n))
    w = np.where(rng.random(n) < 0.1, 0.0, rng.uniform(0.2, 1.0, n))
    return {"raw": s.astype(np.float32), "label": y.astype(np.float32), "weight": w.astype(np.float32)}


def reference(inputs):
    s, y, w = (inputs[k].astype(np.float64) for k in ("raw", "label", "weight"))
    a, b = y * np.exp(-0.3 * s), np.exp(0.7 * s)
    return {
        "grad": (w * (b - a)).astype(np.float32),
        "hess": np.maximum(w * (0.3 * a + 0.7 * b), 1e-6).astype(np.float32),
    }
