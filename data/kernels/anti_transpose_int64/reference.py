import numpy as np


TOLERANCE = {"flipped": (0, 0)}


def make_inputs(rng, rows, cols, values="normal"):
    if values == "extremes":
        matrix = rng.choice(np.array([-(2**63), 2**63 - 1, 2**53 + 1, -1, 0]), (rows, cols))
    else:
        matrix = rng.integers(-(2**63), 2**63, (rows, cols), dtype=np.int64)
    return {"sizes": np.array([rows, cols], dtype=np.int32), "matrix": matrix.astype(np.int64)}


def reference(inputs):
    return {"flipped": np.ascontiguousarray(inputs["matrix"][::-1, ::-1].T)}
