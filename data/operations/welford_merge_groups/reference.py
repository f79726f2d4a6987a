import numpy as np


# Means near 300 in float32 have an error of about 1e-4 per merge; it enters the variance (about 10 to 100) only weakly.
TOLERANCE = {"mean": (3e-6, 0), "variance": (2e-4, 0)}


def make_inputs(rng, groups, parts):
    n = rng.integers(0, 200, (groups, parts))
    n[rng.random((groups, parts)) < 0.2] = 0
    n[:, 0] = np.maximum(n[:, 0], 2)
    centre = rng.uniform(100, 300, (groups, 1))
    m = np.where(n > 0, centre + rng.normal(0, 5, (groups, parts)), 0)
    q = np.maximum(n - 1, 0) * rng.uniform(1, 60, (groups, parts))
    return {"counts": n.astype(np.int32), "means": m.astype(np.float32), "squares": q.astype(np.float32)}


def reference(inputs):
    n, m, q = (inputs[k].astype(np.float64) for k in ("counts", "means", "squares"))
    total = n.sum(axis=1)
    mean = (n * m).sum(axis=1) / total
    between = (n * (m - mean[:, None]) ** 2).sum(axis=1)
    return {"mean": mean.astype(np.float32), "variance": ((q.sum(axis=1) + between) / (total - 1)).astype(np.float32)}
