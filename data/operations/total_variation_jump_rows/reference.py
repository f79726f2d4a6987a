import numpy as np


# A positive float32 sum of up to 40000 steps; the jump is a single subtraction.
TOLERANCE = {"variation": (5e-5, 0), "jump": (0, 0), "at": (0, 0)}


def make_inputs(rng, rows, cols):
    x = np.cumsum(rng.normal(0.0, 1.0, (rows, cols)), axis=1) * 0.1 + rng.standard_normal((rows, cols))
    return {"x": (np.round(x * 64.0) / 64.0).astype(np.float32)}


def reference(inputs):
    d = np.diff(inputs["x"], axis=1)
    at = np.abs(d).argmax(axis=1)
    return {
        "variation": np.abs(d).sum(axis=1, dtype=np.float64).astype(np.float32),
        "jump": d[np.arange(len(at)), at],
        "at": at.astype(np.int32),
    }
