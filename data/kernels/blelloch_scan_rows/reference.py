import numpy as np


TOLERANCE = {"starts": (0, 0), "totals": (0, 0)}


def make_inputs(rng, rows, cols, values="signed"):
    counts = rng.integers(-(2**30), 2**31, (rows, cols))
    if values == "largest":  # rows of the largest and of the smallest int32, and rows of zeros
        counts = np.repeat(rng.choice([-(2**31), 0, 2**31 - 1], (rows, 1)), cols, axis=1)
    return {"sizes": np.array([rows, cols], dtype=np.int32), "counts": counts.astype(np.int32)}


def reference(inputs):
    counts = inputs["counts"].astype(np.int64)
    inclusive = np.cumsum(counts, axis=1)
    return {"starts": inclusive - counts, "totals": inclusive[:, -1].copy()}
