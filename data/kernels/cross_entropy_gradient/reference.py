import numpy as np


TOLERANCE = {"loss": (1e-4, 1e-6), "grad": (1e-4, 1e-7)}


def make_inputs(rng):
    labels = rng.integers(0, 1203, 601, dtype=np.int32)
    labels[rng.random(601) < 0.1] = -100
    logits = rng.normal(0.0, 3.0, (601, 1203)) + rng.uniform(-95.0, 95.0, (601, 1))
    return {"logits": logits.astype(np.float32), "labels": labels}


def reference(inputs):
    logits, labels = inputs["logits"].astype(np.float64), inputs["labels"]
    kept = np.flatnonzero(labels != -100)
    top = logits.max(axis=1, keepdims=True)
    weights = np.exp(logits - top)
    total = weights.sum(axis=1, keepdims=True)

    loss = np.zeros(labels.size)
    loss[kept] = (np.log(total) + top)[kept, 0] - logits[kept, labels[kept]]
    grad = np.zeros_like(logits)
    grad[kept] = weights[kept] / total[kept]
    grad[kept, labels[kept]] -= 1.0
    return {"loss": loss.astype(np.float32), "grad": (grad / kept.size).astype(np.float32)}
