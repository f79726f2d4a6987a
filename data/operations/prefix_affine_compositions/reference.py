import numpy as np


# Arithmetic modulo 2^32 is exact.
TOLERANCE = {"pa": (0, 0), "pb": (0, 0)}


def make_inputs(rng, rows, cols):
    a, b = rng.integers(0, 2**32, (2, rows, cols), dtype=np.uint32)
    a |= np.uint32(1)
    a[rng.random((rows, cols)) < 0.5 / cols] = 0
    return {"a": a, "b": b}


def reference(inputs):
    a, b = (np.ascontiguousarray(inputs[k].T) for k in ("a", "b"))
    pa, pb = a.copy(), b.copy()
    for c in range(1, len(a)):
        pa[c] = a[c] * pa[c - 1]
        pb[c] = a[c] * pb[c - 1] + b[c]
    return {"pa": np.ascontiguousarray(pa.T), "pb": np.ascontiguousarray(pb.T)}
