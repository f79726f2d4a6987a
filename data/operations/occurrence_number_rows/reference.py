import numpy as np


# Integers are exact.
TOLERANCE = {"number": (0, 0)}


def make_inputs(rng, rows, cols):
    code = np.minimum(rng.geometric(rng.uniform(0.1, 0.4, (rows, 1)), (rows, cols)) - 1, 15)
    return {"code": ((code + rng.integers(0, 16, (rows, 1))) % 16).astype(np.uint8)}


def reference(inputs):
    code = inputs["code"]
    number = np.zeros(code.shape, np.int32)
    for k in range(16):
        hit = code == k
        number += np.where(hit, np.cumsum(hit, axis=1, dtype=np.int32) - 1, 0)
    return {"number": number.astype(np.int32)}
