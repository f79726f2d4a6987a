import numpy as np


# One division per query; the mean is a float32 sum of up to 10,000 terms.
TOLERANCE = {"reciprocal": (1e-6, 0), "mean": (1e-4, 0)}


def make_inputs(rng, queries, items):
    rel = rng.random((queries, items)) < rng.choice([0.0, 2.0, 5.0, 30.0], (queries, 1)) / items
    scores = np.round(rng.normal(0.0, 1.0, (queries, items)) * 512.0) / 512.0 + rel
    return {"scores": scores.astype(np.float32), "relevant": rel.astype(np.uint8)}


def reference(inputs):
    s, rel = inputs["scores"], inputs["relevant"] == 1
    m = np.where(rel, s, -np.inf).max(axis=1, keepdims=True)
    rank = 1 + np.sum(~rel & (s >= m), axis=1)
    rr = np.where(rel.any(axis=1), 1.0 / rank, 0.0)
    return {"reciprocal": rr.astype(np.float32), "mean": np.array([rr.mean()], dtype=np.float32)}
