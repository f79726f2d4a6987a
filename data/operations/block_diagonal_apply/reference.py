import numpy as np


# Sums of at most 64 float32 products of order one.
TOLERANCE = {"y": (2e-5, 1e-4)}


def make_inputs(rng, vectors, blocks, size):
    return {
        "d": rng.normal(0.0, 1.0, (blocks, size, size)).astype(np.float32),
        "x": rng.normal(0.3, 1.0, (vectors, blocks * size)).astype(np.float32),
    }


def reference(inputs):
    d, x = inputs["d"].astype(np.float64), inputs["x"].astype(np.float64)
    parts = x.reshape(len(x), d.shape[0], d.shape[1]).transpose(1, 2, 0)
    return {"y": np.matmul(d, parts).transpose(2, 0, 1).reshape(x.shape).astype(np.float32)}
