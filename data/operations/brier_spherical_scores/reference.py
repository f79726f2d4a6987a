import numpy as np


# Sums of at most 2000 squares in float32; the Brier score of a sure forecast nearly cancels in some formulas.
TOLERANCE = {"brier": (5e-5, 2e-6), "spherical": (5e-5, 1e-7)}


def make_inputs(rng, rows, classes):
    raw = rng.gamma(0.3, 1.0, (rows, classes)) + 1e-6
    labels = rng.integers(0, classes, rows)
    raw[np.arange(rows), labels] += rng.choice([0.0, 0.5, 30.0], rows) * raw.sum(axis=1)
    return {"probs": (raw / raw.sum(axis=1, keepdims=True)).astype(np.float32), "labels": labels.astype(np.int32)}


def reference(inputs):
    p = inputs["probs"].astype(np.float64)
    at = (np.arange(len(p)), inputs["labels"])
    sq = (p * p).sum(axis=1)
    hit = np.zeros_like(p)
    hit[at] = 1.0
    return {
        "brier": ((p - hit) ** 2).sum(axis=1).astype(np.float32),
        "spherical": (p[at] / np.sqrt(sq)).astype(np.float32),
    }
