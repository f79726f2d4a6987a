import numpy as np


TOLERANCE = {"loss": (1e-4, 1e-5), "new_centers": (1e-4, 1e-4)}


def make_inputs(rng, samples, classes, width, pattern="skewed"):
    labels = (classes * rng.random(samples) ** 2).astype(np.int64)
    centers = rng.normal(0.0, 1.0, (classes, width))
    if pattern == "empty":  # three classes have all the samples
        labels = rng.choice([1, classes // 2, classes - 1], samples)
    features = centers[labels] + 0.3 + rng.normal(0.0, 0.7, (samples, width))
    return {
        "sizes": np.array([samples, classes, width], dtype=np.int32),
        "features": features.astype(np.float32),
        "labels": labels.astype(np.int32),
        "centers": centers.astype(np.float32),
    }


def reference(inputs):
    labels, centers = inputs["labels"], inputs["centers"].astype(np.float64)
    difference = inputs["features"] - centers[labels]
    order = np.argsort(labels, kind="stable")
    present, starts, counts = np.unique(labels[order], return_index=True, return_counts=True)
    total = np.add.reduceat(difference[order], starts, axis=0)
    loss = (difference**2).sum(axis=1) / 2
    centers[present] += 0.5 * total / (1.0 + counts)[:, None]
    return {"loss": loss.astype(np.float32), "new_centers": centers.astype(np.float32)}
