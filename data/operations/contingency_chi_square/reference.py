import numpy as np


# Up to 120 float32 terms; O - E cancels to a few percent, which multiplies rounding by about ten.
TOLERANCE = {"chi_square": (2e-4, 1e-4), "cramer_v": (2e-4, 1e-5)}


def make_inputs(rng, tables, levels_a, levels_b):
    a, b = rng.uniform(0.3, 1, (tables, levels_a, 1)), rng.uniform(0.3, 1, (tables, 1, levels_b))
    o = rng.poisson(30 * a * b * rng.uniform(0.3, 1.7, (tables, levels_a, levels_b)))
    o[rng.random(tables) < 0.1, 0] = 0
    o[rng.random(tables) < 0.1, :, -1] = 0
    o[3] = 0
    return {"observed": o.astype(np.int32)}


def reference(inputs):
    o = inputs["observed"].astype(np.float64)
    n = o.sum(axis=(1, 2))
    e = o.sum(axis=2, keepdims=True) * o.sum(axis=1, keepdims=True) / np.maximum(n, 1)[:, None, None]
    chi = np.where(e > 0, (o - e) ** 2 / np.where(e > 0, e, 1), 0).sum(axis=(1, 2))
    v = np.sqrt(chi / (np.maximum(n, 1) * (min(o.shape[1:]) - 1)))
    return {"chi_square": chi.astype(np.float32), "cramer_v": v.astype(np.float32)}
