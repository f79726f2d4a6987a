import numpy as np


# A dozen steps of ten float32 operations on values near 1.
TOLERANCE = {"spread": (2e-5, 5e-6)}


def make_inputs(rng, height, width, steps):
    make_inputs.steps = steps
    d = rng.uniform(0.0, 1.6, (height, width)) * (rng.random((height, width)) < 0.5)
    return {"density": d.astype(np.float32), "growth": rng.uniform(-0.5, 2.5, (height, width)).astype(np.float32)}


def reference(inputs):
    n = inputs["density"].astype(np.float64)
    g = inputs["growth"].astype(np.float64)
    for _ in range(make_inputs.steps):
        p = np.pad(n, 1, mode="reflect")
        lap = p[:-2, 1:-1] + p[2:, 1:-1] + p[1:-1, :-2] + p[1:-1, 2:] - 4.0 * n
        n = n + 0.15 * lap + 0.1 * g * n * (1.0 - n)
    return {"spread": n.astype(np.float32)}
