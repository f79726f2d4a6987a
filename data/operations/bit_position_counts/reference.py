import numpy as np


# Counts are exact.
TOLERANCE = {"ones": (0, 0)}


def make_inputs(rng, rows, cols):
    w = rng.integers(0, 2**32, (rows, cols), dtype=np.uint32)
    mask = rng.integers(0, 2**32, (rows, 1), dtype=np.uint32)
    thin = rng.random((rows, cols)) < rng.uniform(0.0, 0.9, (rows, 1))
    return {"words": np.where(thin, w & mask, w).astype(np.uint32)}


def reference(inputs):
    w = inputs["words"]
    ones = [((w >> np.uint32(k)) & np.uint32(1)).sum(axis=1, dtype=np.int64) for k in range(32)]
    return {"ones": np.stack(ones, axis=1).astype(np.int32)}
