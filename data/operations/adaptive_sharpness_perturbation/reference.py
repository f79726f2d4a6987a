import numpy as np


# A float32 sum of up to 5 million squares in partial sums; its root halves the relative error.
TOLERANCE = {"perturbed": (2e-5, 1e-6), "norm": (2e-4, 0)}


def make_inputs(rng, n):
    big = rng.random(n) < 20.0 / n
    w = rng.standard_normal(n) * np.where(big, 10.0, 0.5)
    g = rng.standard_normal(n) * np.where(big, 200.0, 0.1)
    return {"weight": w.astype(np.float32), "grad": g.astype(np.float32)}


def reference(inputs):
    w, g = inputs["weight"].astype(np.float64), inputs["grad"].astype(np.float64)
    t = np.abs(w) + 0.01
    norm = np.sqrt(np.sum((t * g) ** 2))
    return {
        "perturbed": (w + 0.5 * t * t * g / (norm + 1e-12)).astype(np.float32),
        "norm": np.array([norm], dtype=np.float32),
    }
