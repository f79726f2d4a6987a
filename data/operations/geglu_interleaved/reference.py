import math

import numpy as np


# erff and four products in float32; Phi near 0 keeps an absolute error of 1e-7 only, times |g v| below 40.
TOLERANCE = {"y": (2e-5, 5e-6)}


def phi(x):
    """Normal distribution function in float64 (table of exact values, cubic Hermite between them)."""
    step = 1.0 / 512.0
    grid = np.arange(-10.0, 10.0 + 2 * step, step)
    value = np.array([0.5 * math.erfc(-g / math.sqrt(2.0)) for g in grid])
    slope = np.exp(-0.5 * grid * grid) / math.sqrt(2.0 * math.pi)
    x = np.clip(x, -9.9, 9.9)
    k = ((x + 10.0) / step).astype(np.int64)
    t = (x - grid[k]) / step
    h0, h1 = (1 + 2 * t) * (1 - t) ** 2, t * (1 - t) ** 2
    return value[k] * h0 + slope[k] * step * h1 + value[k + 1] * (1 - h0) - slope[k + 1] * step * t * t * (1 - t)


def make_inputs(rng, rows, width):
    return {"u": np.clip(rng.normal(0.0, 1.8, (rows, width * 2)), -6.0, 6.0).astype(np.float32)}


def reference(inputs):
    u = inputs["u"].astype(np.float64)
    g, v = u[:, 0::2], u[:, 1::2]
    return {"y": (v * g * phi(g)).astype(np.float32)}
