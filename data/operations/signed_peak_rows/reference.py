import numpy as np


# The peak is a copied value and the position an integer.
TOLERANCE = {"peak": (0, 0), "where": (0, 0)}


def make_inputs(rng, rows, cols):
    x = rng.normal(0.0, 2.0, (rows, cols))
    tie = rng.random((rows, 1)) < 0.5
    x = np.where(tie, np.clip(np.round(x), -4, 4), x)
    return {"x": x.astype(np.float32)}


def reference(inputs):
    k = np.abs(inputs["x"]).argmax(axis=1)
    return {"peak": inputs["x"][np.arange(len(k)), k], "where": k.astype(np.int32)}
