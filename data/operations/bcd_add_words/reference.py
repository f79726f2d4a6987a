import numpy as np


# Integers: exact.
TOLERANCE = {"sum": (0, 0), "carry": (0, 0)}


def pack(v):
    out = np.zeros(v.shape, dtype=np.int64)
    for k in range(8):
        out |= (v // 10**k % 10) << (4 * k)
    return out.astype(np.uint32)


def unpack(w):
    w = w.astype(np.int64)
    return sum(((w >> (4 * k)) & 15) * 10**k for k in range(8))


def make_inputs(rng, n):
    x, y = rng.integers(0, 10**8, (2, n))
    nines = rng.random(n) < 0.2
    y[nines] = 10**8 - 1 - x[nines] + rng.integers(0, 2, nines.sum())
    return {"a": pack(x), "b": pack(np.minimum(y, 10**8 - 1))}


def reference(inputs):
    s = unpack(inputs["a"]) + unpack(inputs["b"])
    return {"sum": pack(s % 10**8), "carry": (s // 10**8).astype(np.uint8)}
