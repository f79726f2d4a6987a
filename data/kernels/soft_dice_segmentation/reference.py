import numpy as np


TOLERANCE = {"dice": (1e-4, 1e-6), "loss": (1e-4, 1e-5)}


def make_inputs(rng, batch, classes, pixels, pattern="mixed"):
    labels = (classes * rng.random((batch, pixels)) ** 2).astype(np.int64)
    labels[rng.random((batch, pixels)) < 0.05] = 255  # belongs to no class
    if pattern == "missing":  # sample 0 has no labels at all, and only class 2 occurs in the others
        labels[:] = 2
        labels[0] = 255
    probs = rng.random((batch, classes, pixels)) ** 3
    probs += 2.0 * (labels[:, None] == np.arange(classes)[:, None]) * rng.random((batch, 1, 1))
    probs /= probs.sum(axis=1, keepdims=True)
    return {
        "sizes": np.array([batch, classes, pixels], dtype=np.int32),
        "probs": probs.astype(np.float32),
        "labels": labels.astype(np.uint8),
    }


def reference(inputs):
    probs, labels = inputs["probs"], inputs["labels"]
    batch, classes, _ = probs.shape
    dice = np.empty((batch, classes))
    for c in range(classes):
        match = labels == c
        overlap = (probs[:, c] * match).sum(axis=1, dtype=np.float64)
        mass = probs[:, c].sum(axis=1, dtype=np.float64)
        dice[:, c] = (2 * overlap + 1) / (mass + match.sum(axis=1) + 1)
    return {"dice": dice.astype(np.float32), "loss": (1 - dice.mean(axis=1)).astype(np.float32)}
