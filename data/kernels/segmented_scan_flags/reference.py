import numpy as np


TOLERANCE = {"sums": (0, 0)}


def make_inputs(rng, n, segments="mixed"):
    # Dense and sparse stretches of heads, large values: sums leave int32 within a few elements.
    values = rng.integers(-(2**31), 2**31, n)
    dense = (np.arange(n) // 3000) % 2 == 0
    heads = rng.random(n) < np.where(dense, 0.2, 0.0002)
    if segments == "one long":  # no head but the first stretch, and extreme values of one sign
        heads = np.arange(n) < 5
        values = np.full(n, 2**31 - 1)
    heads[0] = False
    return {
        "sizes": np.array([n], dtype=np.int32),
        "values": values.astype(np.int32),
        "heads": heads.astype(np.uint8),
    }


def reference(inputs):
    totals = np.cumsum(inputs["values"].astype(np.int64))
    starts = inputs["heads"] == 1
    starts[0] = True
    start_of = np.maximum.accumulate(np.where(starts, np.arange(totals.size), 0))
    return {"sums": totals - (totals - inputs["values"])[start_of]}
