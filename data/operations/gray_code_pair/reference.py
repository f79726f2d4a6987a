import numpy as np


# Bit operations: exact.
TOLERANCE = {"encoded": (0, 0), "decoded": (0, 0)}


def make_inputs(rng, n):
    return {
        k: rng.integers(0, 2**32, n, dtype=np.uint32) >> rng.integers(0, 24, n, dtype=np.uint32)
        for k in ("number", "gray")
    }


def reference(inputs):
    number, g = inputs["number"], inputs["gray"]
    decoded = np.zeros_like(g)
    for k in range(32):
        decoded ^= g >> np.uint32(k)
    return {"encoded": number ^ (number >> np.uint32(1)), "decoded": decoded}
