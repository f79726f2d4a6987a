import numpy as np


TOLERANCE = {"loss": (1e-4, 1e-6), "grad": (1e-4, 1e-7)}


def make_inputs(rng, rows, classes, values="normal"):
    labels = rng.integers(0, classes, rows, dtype=np.int32)
    labels[rng.random(rows) < 0.1] = -100
    logits = rng.normal(0.0, 3.0, (rows, classes)) + rng.uniform(-95.0, 95.0, (rows, 1))
    if values == "ignored":
        labels[:] = -100
    elif values == "extremes":  # far beyond the range of expf, equal logits, and a certain class
        logits = rng.integers(-40, 41, (rows, classes)) + rng.choice([-1.0e5, 0.0, 1.0e5], (rows, 1))
        logits[0::3] = 12345.0
        logits[1::3, 0] = 2.0e5
    return {
        "sizes": np.array([rows, classes], dtype=np.int32),
        "logits": logits.astype(np.float32),
        "labels": labels,
    }


def reference(inputs):
    logits, labels = inputs["logits"].astype(np.float64), inputs["labels"]
    kept = np.flatnonzero(labels != -100)
    top = logits.max(axis=1, keepdims=True)
    weights = np.exp(logits - top)
    total = weights.sum(axis=1, keepdims=True)

    loss = np.zeros(labels.size)
    loss[kept] = np.log(total[kept, 0]) + (top[kept, 0] - logits[kept, labels[kept]])
    grad = np.zeros_like(logits)
    grad[kept] = weights[kept] / total[kept]
    grad[kept, labels[kept]] -= 1.0
    return {"loss": loss.astype(np.float32), "grad": (grad / max(kept.size, 1)).astype(np.float32)}
