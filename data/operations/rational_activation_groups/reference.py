import numpy as np


# Horner's rule in float32 for |v| <= 3: P can cancel from terms up to about 100, so 1e-5 of absolute error.
TOLERANCE = {"y": (2e-5, 5e-5)}


def make_inputs(rng, rows, groups, width):
    x = np.clip(rng.normal(0.0, 1.3, (rows, groups, width)), -3.0, 3.0)
    num = rng.normal(0.0, 1.0, (groups, 6)) * np.array([0.3, 1.0, 0.6, 0.3, 0.1, 0.05])
    den = rng.normal(0.0, 1.0, (groups, 4)) * np.array([0.8, 0.6, 0.3, 0.2])
    return {"x": x.astype(np.float32), "num": num.astype(np.float32), "den": den.astype(np.float32)}


def reference(inputs):
    x = inputs["x"].astype(np.float64)
    a, b = inputs["num"].astype(np.float64), inputs["den"].astype(np.float64)
    p, q = np.zeros_like(x), np.zeros_like(x)
    for k in range(5, -1, -1):
        p = p * x + a[:, k][None, :, None]
    for k in range(3, -1, -1):
        q = (q + b[:, k][None, :, None]) * x
    return {"y": (p / (1.0 + np.abs(q))).astype(np.float32)}
