import numpy as np


TOLERANCE = {"density": (0, 0)}


def make_inputs(rng, n, radius, values="clusters"):
    centers = rng.integers(-4 * radius, 4 * radius, (max(n // 50, 1), 3))
    points = centers[rng.integers(0, len(centers), n)] + rng.integers(-radius, radius + 1, (n, 3))
    if values == "shells":  # many pairs at exactly the radius, and points that coincide
        steps = np.array([[0, 0, 0], [radius, 0, 0], [0, -radius, 0], [0, 0, radius], [radius, 1, 0]])
        points = steps[rng.integers(0, 5, n)] + 30 * rng.integers(0, 4, (n, 1))
    return {"sizes": np.array([n, radius], dtype=np.int32), "points": np.clip(points, -20000, 20000).astype(np.int16)}


def reference(inputs):
    points, radius = inputs["points"].astype(np.float64), int(inputs["sizes"][1])
    density = np.empty(len(points), dtype=np.int32)
    squares = (points**2).sum(axis=1)
    for begin in range(0, len(points), 512):  # whole numbers below 2^53: exact in float64
        part = slice(begin, begin + 512)
        distance = squares[part, None] + squares[None] - 2.0 * points[part] @ points.T
        density[part] = (distance <= radius**2).sum(axis=1) - 1
    return {"density": density}
