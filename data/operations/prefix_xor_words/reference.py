import numpy as np


# Bits are exact.
TOLERANCE = {"prefix": (0, 0)}


def make_inputs(rng, n):
    return {"words": rng.integers(0, 2**32, n, dtype=np.uint32)}


def reference(inputs):
    return {"prefix": np.bitwise_xor.accumulate(inputs["words"])}
