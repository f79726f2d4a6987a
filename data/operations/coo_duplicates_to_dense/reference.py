import numpy as np


# Float32 sums of a handful of duplicates in any order.
TOLERANCE = {"dense": (1e-5, 1e-5)}


def make_inputs(rng, rows, cols, entries):
    row = np.sort((rows * rng.random(entries) ** 1.2).astype(np.int32))
    col = (cols * rng.random(entries) ** 1.6).astype(np.int32)
    col[rng.random(entries) < 0.1] = -1
    row[-1], col[0], col[-1] = rows - 1, cols - 1, 0
    return {"row": row, "col": col, "value": rng.normal(0, 1, entries).astype(np.float32)}


def reference(inputs):
    row, col = inputs["row"].astype(np.int64), inputs["col"].astype(np.int64)
    rows, cols = row.max() + 1, col.max() + 1
    used = col >= 0
    dense = np.bincount((row * cols + col)[used], inputs["value"][used].astype(np.float64), rows * cols)
    return {"dense": dense.reshape(rows, cols).astype(np.float32)}
