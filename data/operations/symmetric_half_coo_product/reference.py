import numpy as np


# Float32 sums of a few dozen products in any order (atomics).
TOLERANCE = {"y": (1e-4, 1e-4)}


def make_inputs(rng, n, entries):
    row = np.sort(rng.integers(0, n, entries))
    col = np.where(
        rng.random(entries) < 0.6,
        np.maximum(row - rng.integers(0, 9, entries), 0),
        (row * rng.random(entries)).astype(np.int64),
    )
    return {
        "row": row.astype(np.int32),
        "col": col.astype(np.int32),
        "value": rng.normal(0, 1, entries).astype(np.float32),
        "x": rng.normal(0, 1, n).astype(np.float32),
    }


def reference(inputs):
    row, col, x = inputs["row"], inputs["col"], inputs["x"].astype(np.float64)
    value = inputs["value"].astype(np.float64)
    off = row != col
    y = np.bincount(row, value * x[col], len(x)) + np.bincount(col[off], (value * x[row])[off], len(x))
    return {"y": y.astype(np.float32)}
