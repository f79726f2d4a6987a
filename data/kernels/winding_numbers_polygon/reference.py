import numpy as np


TOLERANCE = {"winding": (0, 0), "inside": (0, 0)}


def make_inputs(rng, points, vertices, values="star"):
    # Twice around the centre with a varying radius: winding numbers from 0 to 2, and the outline crosses itself.
    angle = np.sort(rng.uniform(0.0, 4.0 * np.pi, vertices))
    radius = rng.uniform(200000.0, 1000000.0, vertices)
    polygon = np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1)
    queries = rng.integers(-1000000, 1000001, (points, 2))
    if values == "lattice":  # few coordinates: vertices and queries share rows, and many queries lie on the outline
        polygon = rng.integers(-8, 9, (vertices, 2))
        queries = rng.integers(-10, 11, (points, 2))
    return {
        "sizes": np.array([points, vertices], dtype=np.int32),
        "polygon": polygon.astype(np.int32),
        "queries": queries.astype(np.int32),
    }


def reference(inputs):
    qx, qy = inputs["queries"].astype(np.int64).T
    polygon = inputs["polygon"].astype(np.int64)
    winding = np.zeros(qx.size, dtype=np.int64)
    for (ax, ay), (bx, by) in zip(polygon, np.roll(polygon, -1, axis=0), strict=True):
        side = (bx - ax) * (qy - ay) - (by - ay) * (qx - ax)
        winding += (ay <= qy) & (qy < by) & (side > 0)
        winding -= (by <= qy) & (qy < ay) & (side < 0)
    return {
        "winding": winding.astype(np.int32),
        "inside": np.array([np.count_nonzero(winding)], dtype=np.int32),
    }
