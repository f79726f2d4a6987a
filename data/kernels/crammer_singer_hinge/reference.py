import numpy as np


TOLERANCE = {"loss": (1e-5, 1e-5), "rival": (0, 0)}


def make_inputs(rng, rows, classes, pattern="normal"):
    labels = rng.integers(0, classes, rows, dtype=np.int32)
    scores = rng.normal(0.0, 2.0, (rows, classes))
    scores[np.arange(rows), labels] += rng.choice([0.0, 6.0, 12.0], rows)
    if pattern == "ties":  # few values, negative ones and both zeros among them; the label often ties with the best
        scores = rng.choice([-3.0, -0.0, 0.0, -1.5], (rows, classes))
        scores[::4] = -2.0
    return {
        "sizes": np.array([rows, classes], dtype=np.int32),
        "scores": scores.astype(np.float32),
        "labels": labels,
    }


def reference(inputs):
    scores, labels = inputs["scores"].astype(np.float64), inputs["labels"]
    rows = np.arange(labels.size)
    others = scores.copy()
    others[rows, labels] = -np.inf
    rival = others.argmax(axis=1)
    loss = np.maximum(0.0, 1.0 + scores[rows, rival] - scores[rows, labels])
    return {"loss": loss.astype(np.float32), "rival": rival.astype(np.int32)}
