import numpy as np


TOLERANCE = {"draws": (0, 0), "states": (0, 0)}


def make_inputs(rng, streams, steps, seeds="random"):
    values = rng.integers(0, 2**64, streams, dtype=np.uint64)
    if seeds == "zero and neighbours":  # 0, 1, 2, ... and the largest: the seeding has to tell them apart
        values = np.arange(streams, dtype=np.uint64)
        values[-1] = 2**64 - 1
    return {"sizes": np.array([streams, steps], dtype=np.int32), "seeds": values}


def _splitmix64(x):
    x = x + np.uint64(0x9E3779B97F4A7C15)
    z = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x, z ^ (z >> np.uint64(31))


def _rotl(v, bits):
    return (v << np.uint32(bits)) | (v >> np.uint32(32 - bits))


def reference(inputs):
    streams, steps = inputs["sizes"]
    x, first = _splitmix64(inputs["seeds"])
    _, second = _splitmix64(x)
    s0, s1, s2, s3 = (
        (z >> np.uint64(shift)).astype(np.uint32) for z in (first, second) for shift in (0, 32)
    )  # the conversion keeps the low half
    draws = np.empty((steps, streams), dtype=np.uint32)
    for k in range(steps):
        draws[k] = _rotl(s1 * np.uint32(5), 7) * np.uint32(9)
        t = s1 << np.uint32(9)
        s2 = s2 ^ s0
        s3 = s3 ^ s1
        s1 = s1 ^ s2
        s0 = s0 ^ s3
        s2 = s2 ^ t
        s3 = _rotl(s3, 11)
    return {"draws": draws, "states": np.stack([s0, s1, s2, s3], axis=1)}
