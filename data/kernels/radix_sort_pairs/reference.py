import numpy as np


TOLERANCE = {"sorted_keys": (0, 0), "sorted_values": (0, 0)}


def make_inputs(rng):
    keys = rng.integers(0, 2**32, 200003, dtype=np.uint32)
    keys[rng.random(keys.size) < 0.5] &= np.uint32(0x800000FF)  # many equal keys, top bit included
    return {"keys": keys, "values": rng.integers(0, 2**32, keys.size, dtype=np.uint32)}


def reference(inputs):
    order = np.argsort(inputs["keys"], kind="stable")
    return {"sorted_keys": inputs["keys"][order], "sorted_values": inputs["values"][order]}
