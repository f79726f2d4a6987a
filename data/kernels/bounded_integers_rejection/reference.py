import numpy as np


TOLERANCE = {"numbers": (0, 0), "rejections": (0, 0)}


def make_inputs(rng, n, bounds="mixed"):
    limits = (2.0 ** rng.uniform(0.0, 32.0, n)).astype(np.uint64)
    limits[::4] = rng.integers(2**31, 2**32, limits[::4].size)
    if bounds == "edges":  # powers of two are never rejected, 2^31 + 1 is nearly every second time
        limits = rng.choice([1, 2, 3, 2**16, 2**31, 2**31 + 1, 2**32 - 1], n)
    return {
        "sizes": np.array([n], dtype=np.int32),
        "seed": rng.integers(0, 2**64, 1, dtype=np.uint64),
        "bounds": np.maximum(limits, 1).astype(np.uint32),
    }


def _words(seed, counter):
    z = (counter + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15) + seed
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return (z ^ (z >> np.uint64(31))) >> np.uint64(32)


def reference(inputs):
    bounds = inputs["bounds"].astype(np.uint64)
    numbers = np.zeros(bounds.size, dtype=np.uint32)
    waiting = np.arange(bounds.size, dtype=np.uint64)
    rejections = attempt = 0
    while waiting.size:
        b = bounds[waiting]
        product = _words(inputs["seed"], (waiting << np.uint64(16)) + np.uint64(attempt)) * b
        rejected = (product & np.uint64(2**32 - 1)) < np.uint64(2**32) % b
        numbers[waiting] = product >> np.uint64(32)  # of a rejected attempt, the next one overwrites it
        waiting = waiting[rejected]
        rejections += waiting.size
        attempt += 1
    return {"numbers": numbers, "rejections": np.array([rejections], dtype=np.int64)}
