import numpy as np


TOLERANCE = {"loss": (1e-4, 1e-5)}


def make_inputs(rng, images, pixels, pattern="mixed"):
    labels = rng.random((images, pixels)) < rng.uniform(0.05, 0.6, (images, 1))
    logits = rng.normal(0.0, 1.0, (images, pixels)) + 0.8 * (2.0 * labels - 1.0)
    if pattern == "uniform":  # images without ones, of ones only, and many equal errors
        labels[0], labels[1] = False, True
        logits = np.round(logits * 2) / 2
    return {
        "sizes": np.array([images, pixels], dtype=np.int32),
        "logits": logits.astype(np.float32),
        "labels": labels.astype(np.uint8),
    }


def reference(inputs):
    labels = inputs["labels"].astype(np.float64)
    errors = 1.0 - inputs["logits"].astype(np.float64) * (2.0 * labels - 1.0)
    order = np.argsort(-errors, axis=1, kind="stable")
    errors, labels = np.take_along_axis(errors, order, axis=1), np.take_along_axis(labels, order, axis=1)
    total = labels.sum(axis=1, keepdims=True)
    seen = np.cumsum(labels, axis=1)
    jaccard = 1.0 - (total - seen) / (total + np.arange(1, labels.shape[1] + 1) - seen)
    steps = np.diff(jaccard, axis=1, prepend=0.0)
    return {"loss": (np.maximum(errors, 0.0) * steps).sum(axis=1).astype(np.float32)}
