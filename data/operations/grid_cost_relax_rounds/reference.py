import numpy as np


# Integers: exact.
TOLERANCE = {"reach": (0, 0)}


def make_inputs(rng, height, width):
    cost = rng.integers(1, 30, (height, width))
    cost[rng.random((height, width)) < 0.15] = 0
    seed = np.where(rng.random((height, width)) < 0.01, rng.integers(0, 40, (height, width)), 1000000)
    seed[cost == 0] = 1000000
    return {"cost": cost.astype(np.int32), "seed": seed.astype(np.int32)}


def reference(inputs):
    cost, d = inputs["cost"].astype(np.int64), inputs["seed"].astype(np.int64)
    for _ in range(8):
        p = np.pad(d, 1, constant_values=1000000)
        best = np.minimum(np.minimum(p[:-2, 1:-1], p[2:, 1:-1]), np.minimum(p[1:-1, :-2], p[1:-1, 2:]))
        d = np.where(cost == 0, 1000000, np.minimum(d, best + cost))
    return {"reach": d.astype(np.int32)}
