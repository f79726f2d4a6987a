import numpy as np


# Sums of small multiples of 1/8 are exact in float32.
TOLERANCE = {"disc": (1e-6, 1e-6), "dominant": (0, 0)}


def make_inputs(rng, n, entries):
    owner = np.sort((n * rng.random(entries) ** 1.2).astype(np.int64))
    col = np.where(rng.random(entries) < 0.15, owner, rng.integers(0, n, entries))
    value = rng.integers(-40, 41, entries) * 0.125
    value[col == owner] *= rng.choice([1.0, 20.0], (col == owner).sum())
    return {
        "row_start": np.searchsorted(owner, np.arange(n + 1)).astype(np.int32),
        "col": col.astype(np.int32),
        "value": value.astype(np.float32),
    }


def reference(inputs):
    start, value = inputs["row_start"], inputs["value"].astype(np.float64)
    n = len(start) - 1
    owner = np.repeat(np.arange(n), np.diff(start))
    on = inputs["col"] == owner
    centre = np.bincount(owner[on], value[on], n)
    radius = np.bincount(owner[~on], np.abs(value[~on]), n)
    return {
        "disc": np.stack([centre, radius], axis=1).astype(np.float32),
        "dominant": (np.abs(centre) > radius).astype(np.int32),
    }
