import numpy as np


# Bytes and a count: exact.
TOLERANCE = {"out": (0, 0), "clipped": (0, 0)}


def make_inputs(rng, n):
    codes = np.clip(np.rint(rng.normal(120.0, 50.0, n)), 0, 255).astype(np.uint8)
    v = (np.arange(256) - 128) / 24.0
    curve = v / (1.0 + np.exp(-v)) * rng.uniform(60.0, 90.0) + 8.0 + rng.integers(-6, 7, 256)
    return {"codes": codes, "table": np.clip(np.rint(curve), 0, 255).astype(np.uint8)}


def reference(inputs):
    out = inputs["table"][inputs["codes"]]
    return {"out": out, "clipped": np.array([np.count_nonzero((out == 0) | (out == 255))], dtype=np.int32)}
