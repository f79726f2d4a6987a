import numpy as np


TOLERANCE = {"centroid": (1e-9, 1e-9), "total_weight": (1e-9, 1e-9)}


def make_inputs(rng, n, weights="uniform"):
    points = rng.normal(0.0, 2.0, (n, 3)) + np.array([5.0, -11.0, 0.75])
    w = rng.uniform(0.0, 3.0, n)
    if weights == "mostly zero":  # points without weight are far away and must not count
        w[rng.random(n) < 0.9] = 0.0
        points[w == 0.0] *= 1.0e25
    return {
        "sizes": np.array([n], dtype=np.int32),
        "points": points.astype(np.float32),
        "weights": w.astype(np.float32),
    }


def reference(inputs):
    points, weights = inputs["points"].astype(np.float64), inputs["weights"].astype(np.float64)
    total = weights.sum()
    centroid = weights @ points / total if total > 0.0 else np.zeros(3)
    return {"centroid": centroid, "total_weight": np.array([total])}
