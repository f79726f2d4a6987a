import numpy as np


TOLERANCE = {"inliers": (0, 0), "best": (0, 0)}


def make_inputs(rng, n, planes, values="room"):
    points = rng.integers(-50000, 50001, (n, 3))
    points[: n // 3, 2] = rng.integers(-150, 151, n // 3)
    normal = rng.integers(-1000, 1001, (planes, 3))
    anchor = points[rng.integers(0, n, planes)]
    limit = rng.integers(10_000, 5_000_000, (planes, 1))
    if values == "ties":  # the same plane several times, and points exactly at the limit
        points = rng.integers(-3, 4, (n, 3))
        normal, anchor = np.eye(3, dtype=np.int64)[rng.integers(0, 3, planes)], np.zeros((planes, 3), dtype=np.int64)
        limit = rng.integers(1, 3, (planes, 1))
        normal[5:9], limit[5:9] = (0, 0, 1), 3
    offset = -(normal * anchor).sum(axis=1, keepdims=True)
    plane = np.concatenate([normal, offset, limit], axis=1)
    sizes = np.array([n, planes], dtype=np.int32)
    return {"sizes": sizes, "points": points.astype(np.int32), "plane": plane.astype(np.int32)}


def reference(inputs):
    points = inputs["points"].astype(np.float64)  # whole numbers below 2^53: exact
    inliers = np.empty(len(inputs["plane"]), dtype=np.int32)
    for k, (a, b, c, d, limit) in enumerate(inputs["plane"].astype(np.float64)):
        inliers[k] = np.count_nonzero(np.abs(points @ np.array([a, b, c]) + d) <= limit)
    best = int(np.argmax(inliers))
    return {"inliers": inliers, "best": np.array([best, inliers[best]], dtype=np.int32)}
