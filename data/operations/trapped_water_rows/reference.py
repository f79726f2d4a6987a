import numpy as np


# Integers are exact.
TOLERANCE = {"water": (0, 0), "held": (0, 0)}


def make_inputs(rng, rows, cols):
    walk = np.abs(np.cumsum(rng.integers(-30, 31, (rows, cols)), axis=1))
    height = np.where(rng.random((rows, 1)) < 0.6, walk, rng.integers(0, 1000, (rows, cols)))
    return {"height": height.astype(np.int32)}


def reference(inputs):
    h = inputs["height"]
    left = np.maximum.accumulate(h, axis=1)
    right = np.maximum.accumulate(h[:, ::-1], axis=1)[:, ::-1]
    water = np.minimum(left, right) - h
    return {"water": water.astype(np.int32), "held": water.sum(axis=1, dtype=np.int64)}
