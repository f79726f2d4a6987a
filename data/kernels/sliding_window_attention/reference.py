import numpy as np


TOLERANCE = {"out": (1e-3, 1e-4)}


def make_inputs(rng, heads, length, window, values="normal"):
    q, k, v = rng.normal(0.0, 1.0, (3, heads, length, 64))
    q *= 2.0
    if values == "peaked":  # key 0 takes nearly all the weight; a window beyond the sequence never hides it
        k[:, 0] = 1.0
        q[:, 1::2] = 4.0
        q[:, 2] = 0.0
    return {
        "sizes": np.array([heads, length, window], dtype=np.int32),
        "q": q.astype(np.float32),
        "k": k.astype(np.float32),
        "v": v.astype(np.float32),
    }


def reference(inputs):
    window = int(inputs["sizes"][2])
    q, k, v = (inputs[name].astype(np.float64) for name in ("q", "k", "v"))
    length = q.shape[1]
    out = np.empty_like(q)
    for begin in range(0, length, 128):  # a band of queries against the keys that it can see
        end = min(begin + 128, length)
        first = max(0, begin - window + 1)
        i, j = np.arange(begin, end)[:, None], np.arange(first, end)
        scores = q[:, begin:end] @ k[:, first:end].transpose(0, 2, 1) / 8.0
        scores = np.where((j <= i) & (j > i - window), scores, -np.inf)
        weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
        out[:, begin:end] = weights @ v[:, first:end] / weights.sum(axis=-1, keepdims=True)
    return {"out": out.astype(np.float32)}
