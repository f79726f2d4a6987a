import numpy as np


# Sums of at most 15 products in float32, whatever the order.
TOLERANCE = {"y": (1e-5, 2e-5)}


def make_inputs(rng, diagonals, n):
    wide = rng.choice(np.arange(5, n // 3), diagonals - 3, replace=False) * rng.choice([-1, 1], diagonals - 3)
    offset = rng.permutation(np.concatenate([[0, 1, -1], wide]))
    return {
        "offset": offset.astype(np.int32),
        "band": rng.normal(0, 1, (diagonals, n)).astype(np.float32),
        "x": rng.normal(0, 1, n).astype(np.float32),
    }


def reference(inputs):
    x = inputs["x"].astype(np.float64)
    n = len(x)
    y = np.zeros(n)
    for o, b in zip(inputs["offset"], inputs["band"], strict=False):
        first, last = max(0, -o), min(n, n - o)
        y[first:last] += b[first:last] * x[first + o : last + o]
    return {"y": y.astype(np.float32)}
