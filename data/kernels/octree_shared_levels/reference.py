import numpy as np


TOLERANCE = {"shared": (0, 0), "cells": (0, 0)}


def make_inputs(rng, n, values="random"):
    # The square makes the cloud denser in one corner, so that all depths occur.
    codes = (2**30 * rng.random(n) ** 2).astype(np.uint32)
    if values == "repeats":
        codes = rng.choice([0, 1, 7, 8, 2**27 - 1, 2**27, 2**30 - 1], n).astype(np.uint32)
    return {"sizes": np.array([n], dtype=np.int32), "codes": np.sort(codes)}


def reference(inputs):
    codes = inputs["codes"].astype(np.int64)
    shared = np.zeros(len(codes), dtype=np.uint8)
    cells = np.empty(10, dtype=np.int32)
    for level in range(1, 11):
        prefix = codes >> (30 - 3 * level)
        same = prefix[1:] == prefix[:-1]
        shared[1:] += same
        cells[level - 1] = 1 + np.count_nonzero(~same)
    return {"shared": shared, "cells": cells}
