import numpy as np


# Integers below 2^24 times a power of two are exact in float32.
TOLERANCE = {"uniform": (0, 0), "last_state": (0, 0)}


def make_inputs(rng, streams, steps):
    seeds = rng.integers(0, 2**32, streams, dtype=np.uint32)
    seeds[rng.random(streams) < 0.05] = 0
    return {"seeds": seeds, "increments": rng.integers(0, 2**32, steps, dtype=np.uint32)}


def reference(inputs):
    s = inputs["seeds"].copy()
    s[s == 0] = np.uint32(0x9E3779B9)
    add = inputs["increments"]
    out = np.zeros((len(add), len(s)), dtype=np.float32)
    for k in range(len(add)):
        s ^= s << np.uint32(13)
        s ^= s >> np.uint32(17)
        s ^= s << np.uint32(5)
        out[k] = ((s + add[k]) >> np.uint32(8)).astype(np.float32) * np.float32(2.0**-24)
    return {"uniform": out, "last_state": s}
