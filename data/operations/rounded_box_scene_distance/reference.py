import numpy as np


# Coordinates up to 8 with a handful of float32 roundings.
TOLERANCE = {"distance": (1e-5, 5e-6)}


def make_inputs(rng, n, m):
    half = rng.uniform(0.5, 2.5, (m, 3))
    radius = rng.uniform(0.05, 0.45, (m, 1))
    center = rng.uniform(-3.5, 3.5, (m, 3))
    return {
        "points": rng.uniform(-6.0, 6.0, (n, 3)).astype(np.float32),
        "shapes": np.concatenate([center, half, radius], axis=1).astype(np.float32),
    }


def reference(inputs):
    p = inputs["points"].astype(np.float64)
    best = np.full(len(p), np.inf)
    for s in inputs["shapes"].astype(np.float64):
        q = np.abs(p - s[:3]) - s[3:6] + s[6]
        outside = np.sqrt((np.maximum(q, 0.0) ** 2).sum(axis=1))
        best = np.minimum(best, outside + np.minimum(q.max(axis=1), 0.0) - s[6])
    return {"distance": best.astype(np.float32)}
