import numpy as np


# A quotient and a product in float32; |p1 - p0| is at least 0.05, so end points are good to about 1e-5.
TOLERANCE = {"clipped": (1e-4, 3e-5), "kept": (0, 0)}


def bounds(s):
    p, d = s[:, :2], s[:, 2:] - s[:, :2]
    a, b = (-1.0 - p) / d, (1.0 - p) / d
    return np.maximum(np.minimum(a, b).max(axis=1), 0.0), np.minimum(np.maximum(a, b).min(axis=1), 1.0)


def make_inputs(rng, n):
    m = n + n // 5 + 100
    p = rng.uniform(-2.0, 2.0, (m, 2))
    d = rng.uniform(0.05, 2.5, (m, 2)) * rng.choice([-1.0, 1.0], (m, 2))
    s = np.concatenate([p, p + d], axis=1).astype(np.float32)
    low, high = bounds(s.astype(np.float64))
    return {"segments": s[np.flatnonzero(np.abs(high - low) > 1e-3)[:n]]}


def reference(inputs):
    s = inputs["segments"].astype(np.float64)
    low, high = bounds(s)
    p, d = s[:, :2], s[:, 2:] - s[:, :2]
    out = np.concatenate([p + low[:, None] * d, p + high[:, None] * d], axis=1)
    keep = low <= high
    return {"clipped": np.where(keep[:, None], out, 0.0).astype(np.float32), "kept": keep.astype(np.uint8)}
