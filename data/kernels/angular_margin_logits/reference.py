import numpy as np


TOLERANCE = {"loss": (1e-4, 1e-4), "confidence": (1e-3, 1e-6)}


def make_inputs(rng, rows, classes, pattern="usual"):
    labels = rng.integers(0, classes, rows)
    cosine = np.clip(rng.normal(0.0, 0.15, (rows, classes)), -0.8, 0.8)
    own = rng.uniform(0.1, 0.95, rows)
    if pattern == "opposite":  # beyond the angle at which the margin changes its form, and the ends of the range
        own = rng.choice([-1.0, -0.95, -0.9, 0.5, 1.0], rows)
    cosine[np.arange(rows), labels] = own
    return {
        "sizes": np.array([rows, classes], dtype=np.int32),
        "cosine": cosine.astype(np.float32),
        "labels": labels.astype(np.int32),
    }


def reference(inputs):
    cosine, labels = inputs["cosine"].astype(np.float64), inputs["labels"]
    rows = np.arange(labels.size)
    c = cosine[rows, labels]
    harder = c * np.cos(0.5) - np.sqrt(np.maximum(0.0, 1 - c**2)) * np.sin(0.5)
    logits = 30 * cosine
    logits[rows, labels] = 30 * np.where(c > -np.cos(0.5), harder, c - 0.5 * np.sin(0.5))
    top = logits.max(axis=1)
    log_sum = np.log(np.exp(logits - top[:, None]).sum(axis=1)) + top
    loss = log_sum - logits[rows, labels]
    return {"loss": loss.astype(np.float32), "confidence": np.exp(-loss).astype(np.float32)}
