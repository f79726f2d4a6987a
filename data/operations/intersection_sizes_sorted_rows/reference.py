import numpy as np


# Counts are exact; one division in float32 has half a unit of rounding.
TOLERANCE = {"common": (0, 0), "jaccard": (1e-6, 0)}


def make_inputs(rng, rows, len_a, len_b):
    def sets(count):
        gaps = rng.integers(1, 2 + rng.integers(1, 4, (rows, 1)), (rows, count))
        return (np.cumsum(gaps, axis=1) - rng.integers(0, count + 1, (rows, 1))).astype(np.int32)

    a, b = sets(len_a), sets(len_b)
    same = min(len_a, len_b)
    b[0, :same] = a[0, :same]
    b[0, same:] = b[0, same - 1] + np.arange(1, len_b - same + 1)
    b[1] += a[1, -1] - b[1, 0] + 1
    return {"first": a, "second": b}


def reference(inputs):
    a, b = inputs["first"].astype(np.int64), inputs["second"].astype(np.int64)
    shift = (np.arange(len(a)) * 2**33)[:, None]
    flat = (b + shift).ravel()
    want = (a + shift).ravel()
    where = np.minimum(np.searchsorted(flat, want), len(flat) - 1)
    common = (flat[where] == want).reshape(a.shape).sum(axis=1)
    return {
        "common": common.astype(np.int32),
        "jaccard": (common / (a.shape[1] + b.shape[1] - common)).astype(np.float32),
    }
