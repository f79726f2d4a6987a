import numpy as np


# Integers: exact.
TOLERANCE = {"best": (0, 0), "hits": (0, 0)}


def make_inputs(rng, rows, cols, updates):
    return {
        "initial": rng.integers(-1000, 200, (rows, cols)).astype(np.int32),
        "values": rng.integers(-2000, 1000, (updates, cols)).astype(np.int32),
        "index": (rows * rng.random(updates) ** 1.5).astype(np.int32),
    }


def reference(inputs):
    index = inputs["index"]
    order = np.argsort(index, kind="stable")
    starts = np.nonzero(np.diff(index[order], prepend=-1))[0]
    best = inputs["initial"].copy()
    named = index[order][starts]
    best[named] = np.maximum(best[named], np.maximum.reduceat(inputs["values"][order], starts, axis=0))
    return {"best": best, "hits": np.bincount(index, minlength=len(best)).astype(np.int32)}
