import numpy as np


# Sixteen float32 products; weights rounded to float32.
TOLERANCE = {"quadrature": (1e-5, 5e-6)}


def make_inputs(rng, rows, samples):
    t = np.arange(samples)
    x = np.cos(t * rng.uniform(0.2, 2.5, (rows, 1)) + 1) + rng.normal(0, 0.3, (rows, samples)) + 0.5
    return {"x": x.astype(np.float32)}


def reference(inputs):
    x = inputs["x"].astype(np.float64)
    n = x.shape[1]
    p = np.pad(x, ((0, 0), (15, 15)), mode="edge")
    y = np.zeros_like(x)
    for k in range(-15, 16, 2):
        h = 2 / (np.pi * k) * (0.54 + 0.46 * np.cos(np.pi * k / 15))
        y += h * p[:, 15 - k : 15 - k + n]
    return {"quadrature": y.astype(np.float32)}
