import numpy as np


TOLERANCE = {"cost": (1e-4, 1e-4)}


def make_inputs(rng, pairs, length, band, values="walk"):
    a, b = np.cumsum(rng.normal(0.0, 1.0, (2, pairs, length)), axis=2)
    if values == "shifted":  # the same curve a little later: the cost is small, and 0 for the equal ones
        b = np.roll(a, 3, axis=1)
        b[:, :3] = a[:, :1]
        b[::5] = a[::5]
    return {
        "sizes": np.array([pairs, length, band], dtype=np.int32),
        "a": a.astype(np.float32),
        "b": b.astype(np.float32),
    }


def reference(inputs):
    a, b = inputs["a"].astype(np.float64).T, inputs["b"].astype(np.float64).T
    length, pairs = a.shape
    band = int(inputs["sizes"][2])
    row = np.full((length + 1, pairs), np.inf)
    row[0] = 0.0
    for i in range(length):
        first, last = max(0, i - band), min(length - 1, i + band)
        cheaper = np.full_like(row, np.inf)
        ways = np.minimum(row[first : last + 1], row[first + 1 : last + 2])
        price = np.abs(a[i] - b[first : last + 1])
        left = np.full(pairs, np.inf)
        for j in range(first, last + 1):
            left = price[j - first] + np.minimum(ways[j - first], left)
            cheaper[j + 1] = left
        row = cheaper
    return {"cost": row[-1].astype(np.float32)}
