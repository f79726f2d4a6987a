import numpy as np


TOLERANCE = {"out": (1e-3, 1e-4)}


def make_inputs(rng, heads, length, values="normal"):
    shape = (heads, length, 64)
    q, k, v = (rng.normal(0.0, scale, shape) for scale in (2.0, 1.0, 1.0))
    if values == "peaked":  # nearly one-hot rows, a head of equal weights, and values of one sign
        q *= 5.0
        q[-1] = 0.0
        v[0] = -np.abs(v[0]) * 100.0
    return {
        "sizes": np.array([heads, length], dtype=np.int32),
        "q": q.astype(np.float32),
        "k": k.astype(np.float32),
        "v": v.astype(np.float32),
    }


def reference(inputs):
    q, k, v = (inputs[name].astype(np.float64) for name in "qkv")
    length = q.shape[1]
    scores = q @ k.transpose(0, 2, 1) / 8.0
    scores[:, np.triu(np.ones((length, length), dtype=bool), 1)] = -np.inf
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights /= weights.sum(axis=-1, keepdims=True)
    return {"out": (weights @ v).astype(np.float32)}
