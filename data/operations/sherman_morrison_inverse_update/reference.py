import numpy as np


# float32 dot products of up to 2500 terms of order one; updates of the same order as the entries.
TOLERANCE = {"updated": (2e-4, 2e-4), "denominator": (1e-3, 1e-3)}


def make_inputs(rng, n):
    inv = rng.normal(0.0, 1.0, (n, n))
    u, v = rng.normal(0.0, 1.0 / np.sqrt(n), n), rng.normal(0.0, 1.0 / np.sqrt(n), n)
    goal = rng.uniform(2.0, 4.0) * rng.choice([-1.0, 1.0])
    inv += (goal - v @ inv @ u) * np.outer(v, u) / ((v @ v) * (u @ u))
    return {"inv": inv.astype(np.float32), "u": u.astype(np.float32), "v": v.astype(np.float32)}


def reference(inputs):
    b, u, v = (inputs[k].astype(np.float64) for k in ("inv", "u", "v"))
    p, g = b @ u, v @ b
    denominator = 1.0 + v @ p
    updated = b - np.outer(p, g) / denominator
    return {"updated": updated.astype(np.float32), "denominator": np.array([denominator], np.float32)}
