import numpy as np


# Comparisons of given float32 values: exact.
TOLERANCE = {"packed": (0, 0)}


def make_inputs(rng, rows, words):
    x = rng.integers(-12, 13, (rows, words * 32)) * 0.25
    return {"x": x.astype(np.float32), "threshold": (rng.integers(-4, 5, words * 32) * 0.25).astype(np.float32)}


def reference(inputs):
    bits = (inputs["x"] > inputs["threshold"]).reshape(len(inputs["x"]), -1, 32).astype(np.uint32)
    return {"packed": (bits << np.arange(32, dtype=np.uint32)).sum(axis=2, dtype=np.uint32)}
