import numpy as np


# Integers: exact.
TOLERANCE = {"digits": (0, 0), "nonzero": (0, 0)}


def make_inputs(rng, n):
    v = rng.integers(-(2**31), 2**31, n)
    small = rng.random(n) < 0.3
    v[small] = rng.integers(-400, 401, small.sum())
    v[:4] = [0, -(2**31), 2**31 - 1, -1]
    return {"numbers": v.astype(np.int32)}


def reference(inputs):
    v = inputs["numbers"].astype(np.int64)
    out = np.zeros((len(v), 21), dtype=np.int8)
    for k in range(21):
        d = (v + 1) % 3 - 1
        out[:, k] = d
        v = (v - d) // 3
    return {"digits": out, "nonzero": (out != 0).sum(axis=1).astype(np.int32)}
