import numpy as np


# Positive float32 sums of up to 4096 terms; 1 - Q/T^2 may be near 0 when one species dominates.
TOLERANCE = {"diversity": (3e-5, 2e-5), "effective": (5e-5, 0)}


def make_inputs(rng, rows, cols):
    a = rng.gamma(0.5, 2.0, (rows, cols)) * (rng.random((rows, cols)) < rng.uniform(0.01, 1.0, (1, cols)))
    one = np.nonzero(rng.random(cols) < 0.15)[0]
    a[:, one] *= 0.01
    a[rng.integers(0, rows, len(one)), one] += 50.0
    a[:, rng.random(cols) < 0.05] = 0.0
    a = a.astype(np.float32)
    a[a < 1e-6] = 0.0
    return {"abundance": a}


def reference(inputs):
    a = inputs["abundance"].astype(np.float64)
    t, q = a.sum(axis=0), (a * a).sum(axis=0)
    some = t > 0
    t, q = np.where(some, t, 1.0), np.where(some, q, 1.0)
    return {
        "diversity": np.where(some, 1.0 - q / (t * t), 0.0).astype(np.float32),
        "effective": np.where(some, t * t / q, 0.0).astype(np.float32),
    }
