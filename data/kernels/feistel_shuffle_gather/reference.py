import numpy as np


TOLERANCE = {"order": (0, 0), "shuffled": (0, 0)}


def make_inputs(rng, n, keys="random"):
    round_keys = rng.integers(0, 2**32, 6, dtype=np.uint32)
    if keys == "zero":  # P(0) is 0 then: the walk of element 0 ends where it began
        round_keys[:] = 0
    return {
        "sizes": np.array([n], dtype=np.int32),
        "keys": round_keys,
        "values": rng.integers(-(2**31), 2**31, n).astype(np.int32),
    }


def _permute(words, keys, half):
    mask = np.uint32(2**half - 1)
    left, right = words >> np.uint32(half), words & mask
    for key in keys:
        f = (right ^ key) * np.uint32(0x9E3779B1)
        f = (f ^ (f >> np.uint32(15))) * np.uint32(0x85EBCA77)
        left, right = right, left ^ ((f ^ (f >> np.uint32(13))) & mask)
    return (left << np.uint32(half)) | right


def reference(inputs):
    n, half = inputs["values"].size, 1
    while 4**half < n:
        half += 1
    order = np.arange(n, dtype=np.uint32)
    walking = np.arange(n)
    while walking.size:
        order[walking] = _permute(order[walking], inputs["keys"], half)
        walking = walking[order[walking] >= n]
    return {"order": order.astype(np.int32), "shuffled": inputs["values"][order]}
