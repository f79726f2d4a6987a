import numpy as np


TOLERANCE = {"weights": (1e-3, 1e-6)}


def make_inputs(rng, heads, length, values="normal"):
    q, k = rng.normal(0.0, 2.0, (2, heads, length, 32))
    if values == "flat":  # scores of zero, where the penalty decides alone, beside scores of several hundred
        q[:, ::2] = 0.0
        q[:, 1::2], k[:, 5] = 12.0, 12.0
    return {
        "sizes": np.array([heads, length], dtype=np.int32),
        "q": q.astype(np.float32),
        "k": k.astype(np.float32),
    }


def reference(inputs):
    q, k = inputs["q"].astype(np.float64), inputs["k"].astype(np.float64)
    heads, length = q.shape[:2]
    slopes = 2.0 ** (-8.0 * np.arange(1, heads + 1) / heads)
    distance = np.arange(length)[:, None] - np.arange(length)
    scores = q @ k.transpose(0, 2, 1) / np.sqrt(32.0) - slopes[:, None, None] * distance
    scores[:, distance < 0] = -np.inf
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return {"weights": (weights / weights.sum(axis=-1, keepdims=True)).astype(np.float32)}
