import numpy as np


# A positive float32 sum of up to 250000 pair differences, split over many threads.
TOLERANCE = {"gini": (1e-4, 1e-5)}


def make_inputs(rng, rows, width):
    x = rng.lognormal(0.0, 1.0, (rows, width)) ** rng.uniform(0.1, 2.0, (rows, 1))
    x[rng.random((rows, width)) < 0.1] = 0.0
    x[rng.integers(0, rows, 4)] = 0.0
    return {"income": x.astype(np.float32)}


def reference(inputs):
    x = np.sort(inputs["income"].astype(np.float64), axis=1)
    n = x.shape[1]
    total = x.sum(axis=1)
    pairs = 2.0 * (x * (2 * np.arange(n) - n + 1)).sum(axis=1)
    return {"gini": np.where(total > 0, pairs / np.where(total > 0, 2.0 * n * total, 1.0), 0.0).astype(np.float32)}
