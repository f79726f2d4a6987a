import itertools

import numpy as np


# Coordinates up to 12 and differences in float32: about 3e-6 absolute before the square root.
TOLERANCE = {"distance": (1e-4, 2e-4)}


def make_inputs(rng, n, m):
    vertices = np.cumsum(rng.normal(0.0, 1.0, (m, 2)), axis=0)
    vertices = vertices / np.abs(vertices).max() * 8.0
    vertices[m // 2] = vertices[m // 2 - 1]
    points = rng.uniform(-12.0, 12.0, (n, 2))
    return {"points": points.astype(np.float32), "vertices": vertices.astype(np.float32)}


def reference(inputs):
    p = inputs["points"].astype(np.float64)
    v = inputs["vertices"].astype(np.float64)
    best = np.full(len(p), np.inf)
    for a, b in itertools.pairwise(v):
        e = b - a
        length2 = e @ e
        t = np.clip((p - a) @ e / length2, 0.0, 1.0) if length2 > 0 else np.zeros(len(p))
        d = p - a - t[:, None] * e
        best = np.minimum(best, np.einsum("ij,ij->i", d, d))
    return {"distance": np.sqrt(best).astype(np.float32)}
