import numpy as np


# Integers: exact.
TOLERANCE = {"index": (0, 0), "floor_value": (0, 0)}


def polygonal(s, k):
    return ((s - 2) * k * k - (s - 4) * k) // 2


def largest(s, x):
    k = np.floor((s - 4 + np.sqrt((s - 4.0) ** 2 + 8.0 * (s - 2) * x)) / (2 * (s - 2))).astype(np.int64)
    for _ in range(3):
        k = np.where(polygonal(s, k + 1) <= x, k + 1, np.where(polygonal(s, k) > x, k - 1, k))
    return k


def make_inputs(rng, n):
    s = rng.integers(3, 101, n)
    x = np.floor(np.exp(rng.uniform(0, np.log(2147483647.0), n))).astype(np.int64)
    p = polygonal(s, largest(s, x))
    pick = rng.random(n)
    x = np.where(pick < 0.5, p, np.where(pick < 0.7, np.maximum(p - 1, 1), x))
    x[0] = 2147483647
    return {"sides": s.astype(np.int32), "values": x.astype(np.int32)}


def reference(inputs):
    s, x = inputs["sides"].astype(np.int64), inputs["values"].astype(np.int64)
    k = largest(s, x)
    p = polygonal(s, k)
    return {"index": np.where(p == x, k, 0).astype(np.int32), "floor_value": p.astype(np.int32)}
