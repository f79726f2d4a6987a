import numpy as np


# Integers: exact.
TOLERANCE = {"smallest": (0, 0), "factor_count": (0, 0)}


def make_inputs(rng, n):
    v = rng.integers(1, 3000001, n)
    small = rng.random(n) < 0.3
    v[small] = rng.integers(1, 2000, small.sum())
    squares = rng.random(n) < 0.05
    v[squares] = rng.integers(1, 1733, squares.sum()) ** 2
    v[0] = 1
    return {"numbers": v.astype(np.int32)}


def reference(inputs):
    v = inputs["numbers"]
    least = np.arange(v.max() + 1, dtype=np.int32)
    for p in range(2, int(v.max() ** 0.5) + 2):
        if least[p] == p:
            part = least[p * p :: p]
            part[part == np.arange(p * p, v.max() + 1, p)] = p
    count, rest = np.zeros_like(v), v.copy()
    while (rest > 1).any():
        count += rest > 1
        rest = rest // least[rest]
    return {"smallest": least[v], "factor_count": count}
