import numpy as np


# Integers: exact.
TOLERANCE = {"aliquot": (0, 0), "kind": (0, 0)}


def make_inputs(rng, n):
    v = rng.integers(1, 300001, n)
    even = rng.random(n) < 0.3
    v[even] = 12 * rng.integers(1, 25001, even.sum())
    square = rng.random(n) < 0.1
    v[square] = rng.integers(1, 548, square.sum()) ** 2
    known = rng.random(n) < 0.03
    v[known] = rng.choice([1, 6, 28, 496, 8128], known.sum())
    return {"values": v.astype(np.int32)}


def reference(inputs):
    v = inputs["values"]
    top = int(v.max())
    total = np.zeros(top + 1, dtype=np.int32)
    for d in range(1, top // 2 + 1):
        total[2 * d :: d] += d
    s = total[v]
    return {"aliquot": s, "kind": np.sign(s - v).astype(np.int8)}
