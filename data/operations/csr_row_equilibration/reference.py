import numpy as np


# The scale is copied; the quotient may come from a reciprocal and a product.
TOLERANCE = {"scaled": (1e-6, 1e-7), "scale": (0, 0)}


def make_inputs(rng, rows, entries):
    owner = np.sort((rows * rng.random(entries) ** 1.4).astype(np.int64))
    value = rng.normal(0, 1, entries) * np.exp(rng.normal(0, 2, rows))[owner]
    value[rng.random(rows)[owner] < 0.05] = 0
    return {
        "row_start": np.searchsorted(owner, np.arange(rows + 1)).astype(np.int32),
        "value": value.astype(np.float32),
    }


def reference(inputs):
    start, value = inputs["row_start"], inputs["value"]
    scale = np.ones(len(start) - 1, dtype=np.float32)
    filled = np.flatnonzero(np.diff(start) > 0)
    scale[filled] = np.maximum.reduceat(np.abs(value), start[filled])
    scale[scale == 0] = 1
    return {"scaled": (value.astype(np.float64) / np.repeat(scale, np.diff(start))).astype(np.float32), "scale": scale}
