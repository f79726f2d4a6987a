import numpy as np


# Integers: exact.
TOLERANCE = {"hash": (0, 0), "smallest": (0, 0)}


def make_inputs(rng, rows, length):
    return {"tokens": (50257 * rng.random((rows, length)) ** 3).astype(np.int32)}


def reference(inputs):
    t = inputs["tokens"].astype(np.uint32)
    m = np.uint32(1000003)
    h = (((t[:, :-2] * m) ^ t[:, 1:-1]) * m) ^ t[:, 2:]
    h ^= h >> np.uint32(15)
    h *= np.uint32(2246822519)
    h ^= h >> np.uint32(13)
    return {"hash": h, "smallest": h.min(axis=1)}
