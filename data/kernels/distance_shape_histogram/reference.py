import numpy as np


TOLERANCE = {"histogram": (0, 0)}


def make_inputs(rng, n, bins, values="shape"):
    direction = rng.normal(size=(n, 3))
    points = 7000.0 * direction / np.linalg.norm(direction, axis=1, keepdims=True) * [1.0, 0.6, 0.3]
    edges = np.sort(rng.choice(np.arange(1, 200_000_000), bins - 1, replace=False))
    if values == "lattice":  # few distances, which lie on the edges
        points = 10 * rng.integers(0, 4, (n, 3))
        edges = 100 * np.arange(1, bins)
    sizes = np.array([n, bins], dtype=np.int32)
    return {"sizes": sizes, "points": np.rint(points).astype(np.int16), "edges": edges.astype(np.int32)}


def reference(inputs):
    points, edges = inputs["points"].astype(np.int64), inputs["edges"]
    histogram = np.zeros(len(edges) + 1, dtype=np.int64)
    for i in range(0, len(points), 64):
        part = points[i : i + 64]
        square = sum((part[:, None, a] - points[None, i:, a]) ** 2 for a in range(3))
        later = np.arange(i, len(points))[None] > np.arange(i, i + len(part))[:, None]
        histogram += np.bincount(np.searchsorted(edges, square[later], side="right"), minlength=len(histogram))
    return {"histogram": histogram.astype(np.int32)}
