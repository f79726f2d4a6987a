import numpy as np


# Integer arithmetic: exact.
TOLERANCE = {"hash": (0, 0), "bucket": (0, 0)}


def make_inputs(rng, n):
    key = np.where(rng.random(n) < 0.5, rng.integers(0, 4 * n, n), rng.integers(0, 2**32, n)).astype(np.uint32)
    return {"key": key, "buckets": rng.integers(50, 70000, 1).astype(np.uint32)}


def reference(inputs):
    mask = np.uint64(0xFFFFFFFF)
    h = (inputs["key"].astype(np.uint64) + np.uint64(0x9E3779B9)) & mask
    h = ((h ^ (h >> np.uint64(15))) * np.uint64(0x2C1B3C6D)) & mask
    h = ((h ^ (h >> np.uint64(12))) * np.uint64(0x297A2D39)) & mask
    h ^= h >> np.uint64(15)
    bucket = (h * inputs["buckets"].astype(np.uint64)) >> np.uint64(32)
    return {"hash": h.astype(np.uint32), "bucket": bucket.astype(np.int32)}
