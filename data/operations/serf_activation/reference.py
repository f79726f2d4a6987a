import math

import numpy as np


# A logarithm, an exponential and erf in float32 (erf within 2 ulp); large x is multiplied by nearly 1.
TOLERANCE = {"y": (2e-5, 2e-6)}


def erf(t):
    """erf for t >= 0 in float64: exact values on a grid, cubic Hermite interpolation between them."""
    step = 1.0 / 256.0
    grid = np.arange(0.0, 7.0, step)
    value = np.array([math.erf(g) for g in grid])
    slope = 2.0 / math.sqrt(math.pi) * np.exp(-grid * grid) * step
    t = np.minimum(t, 6.9) / step
    k = t.astype(np.int64)
    t = t - k
    h = t * t * (3.0 - 2.0 * t)
    return value[k] * (1.0 - h) + value[k + 1] * h + (1.0 - t) * t * (slope[k] * (1.0 - t) - slope[k + 1] * t)


def make_inputs(rng, rows, cols):
    x = rng.normal(0.0, 2.5, (rows, cols))
    x[rng.random((rows, cols)) < 0.03] *= 4.0
    return {"x": np.clip(x, -30.0, 30.0).astype(np.float32)}


def reference(inputs):
    x = inputs["x"].astype(np.float64)
    return {"y": (x * erf(np.logaddexp(0.0, x))).astype(np.float32)}
