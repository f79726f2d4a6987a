import numpy as np


TOLERANCE = {"probabilities": (1e-4, 1e-7)}


def make_inputs(rng, batch, queries, keys, values="normal"):
    scores = rng.normal(0.0, 3.0, (batch, queries, keys)) + rng.uniform(-100.0, 100.0, (batch, queries, 1))
    lengths = rng.integers((keys + 1) // 2, keys + 1, batch)
    lengths[0] = keys
    lengths[-1] = keys // 3
    if values == "extremes":  # empty rows, single keys, and padding far above every valid score
        lengths[::4] = 0
        lengths[1::4] = 1
        scores[2] *= 1.0e30
        scores[np.broadcast_to(np.arange(keys) >= lengths[:, None, None], scores.shape)] = 3.0e38
    return {
        "sizes": np.array([batch, queries, keys], dtype=np.int32),
        "scores": scores.astype(np.float32),
        "lengths": lengths.astype(np.int32),
    }


def reference(inputs):
    scores = inputs["scores"].astype(np.float64)
    valid = np.arange(scores.shape[2]) < inputs["lengths"][:, None, None]
    peak = np.where(valid, scores, -1e300).max(axis=2, keepdims=True)
    weights = np.where(valid, np.exp(np.where(valid, scores - peak, 0.0)), 0.0)
    total = weights.sum(axis=2, keepdims=True)
    return {"probabilities": (weights / np.where(total > 0.0, total, 1.0)).astype(np.float32)}
