import numpy as np


TOLERANCE = {"boxes": (0, 0), "counts": (0, 0)}


def make_inputs(rng, n, clusters, values="blobs"):
    # Labels come in runs, as after a sort by cell; -1 is noise, and some clusters have no point.
    labels = np.repeat(rng.integers(-1, clusters, n // 6 + 1), 6)[:n]
    labels[rng.random(n) < 0.3] = rng.integers(-1, max(clusters * 3 // 4, 1))
    centers = rng.normal(0.0, 50.0, (clusters + 1, 3))
    points = centers[labels] + rng.normal(0.0, 1.0, (n, 3))
    if values == "signs":  # all negative, tiny, and zero
        points = -np.abs(points) * rng.choice([0.0, 1e-30, 1.0, 1e30], (n, 1))
    return {
        "sizes": np.array([n, clusters], dtype=np.int32),
        "points": points.astype(np.float32) + np.float32(0.0),
        "labels": labels.astype(np.int32),
    }


def reference(inputs):
    points, labels, clusters = inputs["points"], inputs["labels"], int(inputs["sizes"][1])
    counts = np.bincount(labels + 1, minlength=clusters + 1)[1:]
    low = np.full((clusters, 3), np.inf, dtype=np.float32)
    high = -low
    used = labels >= 0
    np.minimum.at(low, labels[used], points[used])
    np.maximum.at(high, labels[used], points[used])
    boxes = np.where(counts[:, None] > 0, np.concatenate([low, high], axis=1), np.float32(0.0))
    return {"boxes": boxes.astype(np.float32), "counts": counts.astype(np.int32)}
