import numpy as np


# Bit operations: exact.
TOLERANCE = {"reversed": (0, 0), "ones": (0, 0)}


def make_inputs(rng, n):
    word = rng.integers(0, 2**32, n, dtype=np.uint32) & rng.integers(0, 2**32, n, dtype=np.uint32)
    few = rng.random(n) < 0.4
    short = (rng.integers(0, 6, n, dtype=np.uint32) << rng.integers(0, 30, n, dtype=np.uint32)).astype(np.uint32)
    return {"word": np.where(few, short, word).astype(np.uint32)}


def reference(inputs):
    w = inputs["word"]
    rev, ones = np.zeros_like(w), np.zeros(w.shape, dtype=np.int64)
    high, low = np.full(w.shape, -1), np.full(w.shape, 99)
    for k in range(32):
        bit = (w >> np.uint32(k)) & np.uint32(1)
        rev |= bit << np.uint32(31 - k)
        ones += bit
        high = np.where(bit == 1, k, high)
        low = np.where(bit == 1, np.minimum(low, k), low)
    return {"reversed": rev, "ones": (ones + np.where((ones > 0) & (high - low <= 1), 128, 0)).astype(np.uint8)}
