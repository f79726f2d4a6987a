import numpy as np


# Values are copied, counts are integers: exact.
TOLERANCE = {"clipped": (0, 0), "outside": (0, 0)}


def make_inputs(rng, rows, cols):
    low = rng.integers(-12, 2, cols) * 0.25
    high = low + rng.integers(0, 16, cols) * 0.25
    x = rng.integers(-20, 21, (rows, cols)) * 0.25
    return {"x": x.astype(np.float32), "low": low.astype(np.float32), "high": high.astype(np.float32)}


def reference(inputs):
    x, low, high = inputs["x"], inputs["low"], inputs["high"]
    counts = np.stack([(x < low).sum(axis=0), (x > high).sum(axis=0)], axis=1)
    return {"clipped": np.minimum(np.maximum(x, low), high), "outside": counts.astype(np.int32)}
