import numpy as np


# Integers: exact.
TOLERANCE = {"power": (0, 0)}


def make_inputs(rng, rows, items):
    p = np.argsort(rng.random((rows, items), dtype=np.float32), axis=1)
    exponent = rng.integers(0, 201, rows)
    exponent[:3] = (200, 0, 1)
    return {"permutation": p.astype(np.int32), "exponent": exponent.astype(np.int32)}


def reference(inputs):
    base, e = inputs["permutation"].astype(np.int64), inputs["exponent"].copy()
    out = np.broadcast_to(np.arange(base.shape[1]), base.shape).copy()
    while e.any():
        odd = (e & 1).astype(bool)
        out[odd] = np.take_along_axis(base[odd], out[odd], axis=1)
        base = np.take_along_axis(base, base, axis=1)
        e >>= 1
    return {"power": out.astype(np.int32)}
