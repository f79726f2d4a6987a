import numpy as np


TOLERANCE = {"labels": (0, 0), "sums": (0, 0), "counts": (0, 0)}


def make_inputs(rng, n, k, values="blobs"):
    centers = rng.integers(-10000, 10001, (k, 3))
    points = centers[rng.integers(0, k, n)] + rng.integers(-3000, 3001, (n, 3))
    if values == "ties":  # a lattice: many points halfway between centres, and centres that coincide
        centers = 2 * rng.integers(-4, 5, (k, 3))
        points = rng.integers(-9, 10, (n, 3))
    return {
        "sizes": np.array([n, k], dtype=np.int32),
        "points": np.clip(points, -10000, 10000).astype(np.int16),
        "centers": centers.astype(np.int16),
    }


def reference(inputs):
    points, centers = inputs["points"].astype(np.float64), inputs["centers"].astype(np.float64)
    labels = np.empty(len(points), dtype=np.int32)
    for begin in range(0, len(points), 8192):  # |c|^2 - 2 p.c, whole numbers below 2^53; argmin takes the first
        score = (centers**2).sum(axis=1) - 2.0 * points[begin : begin + 8192] @ centers.T
        labels[begin : begin + 8192] = np.argmin(score, axis=1)
    sums = np.stack([np.bincount(labels, weights=axis, minlength=len(centers)) for axis in points.T], axis=1)
    counts = np.bincount(labels, minlength=len(centers))
    return {"labels": labels, "sums": sums.astype(np.int64), "counts": counts.astype(np.int32)}
