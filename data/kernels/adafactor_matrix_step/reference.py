import numpy as np


TOLERANCE = {"new_weights": (1e-4, 1e-6), "new_row_moment": (1e-4, 1e-6), "new_col_moment": (1e-4, 1e-6)}


def make_inputs(rng, rows, cols, pattern="normal"):
    grad = rng.normal(0.0, 1.0, (rows, cols)) * rng.uniform(0.1, 3.0, (rows, 1)) * rng.uniform(0.1, 3.0, cols)
    row_moment, col_moment = rng.uniform(0.5, 1.5, rows), rng.uniform(0.5, 1.5, cols)
    if pattern == "spikes":  # a few huge gradients, and moments that are far too small: the update is clipped
        grad[rng.random((rows, cols)) < 0.01] *= 100.0
        row_moment *= 1e-4
        col_moment *= 1e-4
    return {
        "sizes": np.array([rows, cols], dtype=np.int32),
        "weights": rng.normal(0.0, 0.05, (rows, cols)).astype(np.float32),
        "grad": grad.astype(np.float32),
        "row_moment": row_moment.astype(np.float32),
        "col_moment": col_moment.astype(np.float32),
    }


def reference(inputs):
    grad = inputs["grad"].astype(np.float64)
    squares = grad**2 + 1e-8
    row = 0.95 * inputs["row_moment"] + 0.05 * squares.mean(axis=1)
    col = 0.95 * inputs["col_moment"] + 0.05 * squares.mean(axis=0)
    update = grad / np.sqrt(row[:, None] * col / row.mean())
    rms = np.sqrt((update**2).mean())
    return {
        "new_weights": (inputs["weights"] - 0.01 * update / max(1.0, rms)).astype(np.float32),
        "new_row_moment": row.astype(np.float32),
        "new_col_moment": col.astype(np.float32),
    }
