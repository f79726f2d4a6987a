import numpy as np


# A dozen squares, one root, one division in float32; lengths keep a margin of 0.1 percent around the limit.
TOLERANCE = {"capped": (1e-5, 1e-7), "clipped": (0, 0)}


def make_inputs(rng, points, dim):
    v = rng.normal(0.0, 1.0, (dim, points)).astype(np.float32)
    n = np.sqrt((v.astype(np.float64) ** 2).sum(0))
    ratio = rng.uniform(0.3, 2.0, points)
    ratio[np.abs(ratio - 1.0) < 1e-3] = 1.25
    return {"vectors": v, "limit": (n * ratio).astype(np.float32)}


def reference(inputs):
    v = inputs["vectors"].astype(np.float64)
    m = inputs["limit"].astype(np.float64)
    n = np.sqrt((v * v).sum(0))
    return {"capped": (v * np.where(n > m, m / n, 1.0)).astype(np.float32), "clipped": (n > m).astype(np.int32)}
