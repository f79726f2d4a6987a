import numpy as np


# Entries are multiples of 1/4, so the determinant is exact; only the division rounds. Flags are exact.
TOLERANCE = {"inv": (2e-6, 1e-7), "singular": (0, 0)}


def make_inputs(rng, count):
    m = rng.integers(-12, 13, (count, 2, 2)) * 0.25
    dependent = rng.random(count) < 0.15
    m[dependent, 1] = m[dependent, 0] * rng.integers(-3, 4, (dependent.sum(), 1))
    return {"m": m.astype(np.float32)}


def reference(inputs):
    m = inputs["m"].astype(np.float64)
    a, b, c, d = m[:, 0, 0], m[:, 0, 1], m[:, 1, 0], m[:, 1, 1]
    det = a * d - b * c
    singular = np.abs(det) < 0.05
    scale = np.where(singular, 0.0, 1.0 / np.where(singular, 1.0, det))
    inv = np.stack([d * scale, -b * scale, -c * scale, a * scale], axis=1).reshape(-1, 2, 2)
    return {"inv": (inv + 0.0).astype(np.float32), "singular": singular.astype(np.int32)}
