import numpy as np


# Integers are exact.
TOLERANCE = {"last": (0, 0), "hits": (0, 0)}


def make_inputs(rng, rows, cols):
    x = np.round(rng.normal(0.0, 1.0, (rows, cols)) * 4.0) / 4.0
    limit = np.round(rng.uniform(0.5, 3.5, cols) * 4.0) / 4.0
    limit[rng.random(cols) < 0.08] = 9.0
    return {"x": x.astype(np.float32), "limit": limit.astype(np.float32)}


def reference(inputs):
    above = inputs["x"] > inputs["limit"]
    rows = above.shape[0]
    last = np.where(above.any(axis=0), rows - 1 - above[::-1].argmax(axis=0), -1)
    return {"last": last.astype(np.int32), "hits": above.sum(axis=0).astype(np.int32)}
