import numpy as np


TOLERANCE = {"updated": (1e-12, 1e-12)}


def make_inputs(rng, rows, pairs, values="normal"):
    cols = 2 * pairs
    a, x, u = rng.normal(0.0, 1.0, (rows, cols)), rng.normal(0.0, 1.0, rows), rng.normal(0.0, 1.0, rows)
    y, v = rng.normal(0.0, 1.0, (2, cols))
    if values == "cancelling":  # integers beyond the precision of float; the two products cancel in every other column
        a = rng.integers(-(2**40), 2**40, (rows, cols))
        x, y = rng.integers(-(2**20), 2**20, rows), rng.integers(-(2**20), 2**20, cols)
        u, v = x.copy(), y.copy()
        v[::2] = 0
    arrays = {"A": a, "x": x, "u": u, "y": y, "v": v}
    return {"sizes": np.array([rows, pairs], dtype=np.int32)} | {k: w.astype(np.float64) for k, w in arrays.items()}


def reference(inputs):
    update = np.outer(inputs["x"], inputs["y"]) - np.outer(inputs["u"], inputs["v"])
    return {"updated": inputs["A"] + update}
