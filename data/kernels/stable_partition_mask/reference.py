import numpy as np


TOLERANCE = {"partitioned": (0, 0), "origin": (0, 0), "zeros": (0, 0)}


def make_inputs(rng, n, values="random"):
    # Two bits of the mask, one of them the top bit; keys with either of them are about half of all.
    mask = 2**31 + 2**5
    keys = rng.integers(0, 2**32, n, dtype=np.uint32)
    keys[rng.random(n) < 0.3] &= np.uint32(2**32 - 1 - mask)
    if values == "all_zero":  # nothing selected: the array has to come back as it is
        mask = 0
    return {
        "sizes": np.array([n], dtype=np.int32),
        "keys": keys,
        "mask": np.array([mask], dtype=np.uint32),
    }


def reference(inputs):
    back = (inputs["keys"] & inputs["mask"][0]) != 0
    origin = np.argsort(back, kind="stable")
    return {
        "partitioned": inputs["keys"][origin],
        "origin": origin.astype(np.int32),
        "zeros": np.array([np.count_nonzero(~back)], dtype=np.int32),
    }
