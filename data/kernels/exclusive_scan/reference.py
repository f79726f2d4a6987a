import numpy as np


TOLERANCE = {"offsets": (0, 0)}


def make_inputs(rng, n, values="uniform"):
    counts = rng.integers(-(2**30), 2**31 - 1, n, dtype=np.int32)
    if values == "extremes":  # the sum of a tile alone leaves 32 bits
        counts = rng.choice(np.array([-(2**31), 0, 2**31 - 1, 2**31 - 1], dtype=np.int32), n)
    return {"sizes": np.array([n], dtype=np.int32), "counts": counts}


def reference(inputs):
    counts = inputs["counts"].astype(np.int64)
    return {"offsets": np.cumsum(counts) - counts}
