import numpy as np


TOLERANCE = {"lengths": (0, 0)}


def make_inputs(rng, rows, cols, values="trend"):
    # From falling to rising: the longest subsequences are of very different lengths.
    slope = rng.uniform(-1.0, 3.0, (rows, 1))
    x = slope * np.arange(cols) + rng.normal(0.0, 0.2 * cols + 1.0, (rows, cols))
    if values == "runs":  # sorted, reversed and constant rows, the ends of int32, and few different numbers
        x = rng.integers(-(2**31), 2**31, (rows, cols)).astype(np.float64)
        x[0::6], x[1::6] = np.sort(x[0::6], axis=1), -np.sort(x[1::6], axis=1)
        x[2::6], x[3::6] = 5.0, rng.integers(0, 9, x[3::6].shape)
        x[4::6] = rng.choice([-(2**31), 2**31 - 1], x[4::6].shape)
    return {
        "sizes": np.array([rows, cols], dtype=np.int32),
        "x": np.clip(np.round(x), -(2**31), 2**31 - 1).astype(np.int32),
    }


def reference(inputs):
    x = inputs["x"].astype(np.int64)
    # tails[r, k]: the smallest last number of an increasing subsequence of k + 1 numbers
    tails = np.full((len(x), x.shape[1] + 1), 2**40)
    lengths = np.zeros(len(x), dtype=np.int32)
    every = np.arange(len(x))
    for column in x.T:
        low, high = np.zeros_like(lengths), lengths.copy()
        while (low < high).any():
            middle = (low + high) // 2
            smaller = (tails[every, middle] < column) & (low < high)
            low, high = np.where(smaller, middle + 1, low), np.where(smaller, high, np.minimum(high, middle))
        tails[every, low] = column
        lengths = np.maximum(lengths, low + 1)
    return {"lengths": lengths}
