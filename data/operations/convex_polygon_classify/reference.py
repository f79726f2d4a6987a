import numpy as np


# Integer classes from exact arithmetic.
TOLERANCE = {"where": (0, 0)}


def make_inputs(rng, count, sides, n):
    start = rng.uniform(0.0, 2.0 * np.pi, (count, 1))
    angle = start + 2.0 * np.pi * (np.arange(sides) + rng.uniform(-0.2, 0.2, (count, sides))) / sides
    corners = np.round(rng.uniform(500.0, 950.0, (count, 1, 1)) * np.stack([np.cos(angle), np.sin(angle)], axis=2))
    points = rng.integers(-900, 901, (count, n, 2)).astype(np.float64)
    at = np.arange(0, n, 10)
    points[:, at] = corners[:, at % sides]
    return {"polygons": corners.astype(np.float32), "points": points.astype(np.float32)}


def reference(inputs):
    a, p = inputs["polygons"].astype(np.float64), inputs["points"].astype(np.float64)
    e = np.roll(a, -1, axis=1) - a
    low = np.full(p.shape[:2], np.inf)
    for j in range(a.shape[1]):
        c = e[:, j, None, 0] * (p[..., 1] - a[:, j, None, 1]) - e[:, j, None, 1] * (p[..., 0] - a[:, j, None, 0])
        low = np.minimum(low, c)
    return {"where": np.sign(low).astype(np.int32)}
