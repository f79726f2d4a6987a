import numpy as np


# One power a sample; 1 - p^q loses digits for p near 1, hence the absolute part. The count is exact.
TOLERANCE = {"loss": (1e-5, 2e-6), "kept": (0, 0)}


def make_inputs(rng, rows, classes):
    probs = rng.random((rows, classes)) / classes
    labels = rng.integers(0, classes, rows)
    p = rng.random(rows)
    p = np.where(np.abs(p - 0.5) < 1e-3, 0.5, p)
    probs[np.arange(rows), labels] = p
    labels[rng.random(rows) < 0.2] = -1
    return {"probs": probs.astype(np.float32), "labels": labels.astype(np.int32)}


def reference(inputs):
    labels = inputs["labels"]
    p = inputs["probs"][np.arange(len(labels)), np.maximum(labels, 0)].astype(np.float64)
    loss = np.where(labels < 0, 0.0, (1.0 - np.where(p > 0.5, p, 0.5) ** 0.7) / 0.7)
    return {"loss": loss.astype(np.float32), "kept": np.array([np.sum((p > 0.5) & (labels >= 0))], dtype=np.int32)}
