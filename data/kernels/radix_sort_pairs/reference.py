import numpy as np


TOLERANCE = {"sorted_keys": (0, 0), "sorted_values": (0, 0)}


def make_inputs(rng, n, order="random"):
    keys = rng.integers(0, 2**32, n, dtype=np.uint32)
    keys[rng.random(n) < 0.5] &= np.uint32(0x800000FF)  # many equal keys, top bit included
    if order == "descending":
        keys[: n // 4] = 2**32 - 1
        keys = np.sort(keys)[::-1].copy()
    return {
        "sizes": np.array([n], dtype=np.int32),
        "keys": keys,
        "values": rng.integers(0, 2**32, n, dtype=np.uint32),
    }


def reference(inputs):
    order = np.argsort(inputs["keys"], kind="stable")
    return {"sorted_keys": inputs["keys"][order], "sorted_values": inputs["values"][order]}
