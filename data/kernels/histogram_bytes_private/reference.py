import numpy as np


TOLERANCE = {"histogram": (0, 0)}


def make_inputs(rng, n, values="skewed"):
    if values == "one_value":  # every count in the last bin
        data = np.full(n, 255)
    else:
        data = np.minimum((rng.geometric(0.15, n) - 1) * 3 + rng.integers(0, 3, n), 255)
    return {"sizes": np.array([n], dtype=np.int32), "bytes": data.astype(np.uint8)}


def reference(inputs):
    return {"histogram": np.bincount(inputs["bytes"], minlength=256).astype(np.uint32)}
