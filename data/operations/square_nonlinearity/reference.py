import numpy as np


# Two or three float32 operations of size at most 2; both functions are continuous.
TOLERANCE = {"y": (1e-5, 1e-6), "slope": (1e-5, 1e-6)}


def make_inputs(rng, n):
    return {"x": rng.normal(0.0, 1.6, n).astype(np.float32)}


def reference(inputs):
    x = np.clip(inputs["x"].astype(np.float64), -2.0, 2.0)
    return {"y": (x - x * np.abs(x) / 4.0).astype(np.float32), "slope": (1.0 - np.abs(x) / 2.0).astype(np.float32)}
