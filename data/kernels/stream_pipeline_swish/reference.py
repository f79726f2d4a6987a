import numpy as np


TOLERANCE = {"swish": (1e-5, 1e-6)}


def make_inputs(rng, n, values="uniform"):
    signal = rng.uniform(-8.0, 8.0, n)
    if values == "extremes":  # both tails, where the exponential overflows or vanishes
        signal = rng.choice([-1.0e30, -400.0, -60.0, -0.0, 0.0, 60.0, 400.0, 1.0e30], n)
        signal[-1] = 60.0  # alone in the last chunk, and not 0
    return {"sizes": np.array([n], dtype=np.int32), "signal": signal.astype(np.float32)}


def reference(inputs):
    v = inputs["signal"].astype(np.float64)
    small = np.exp(-1.702 * np.abs(v))  # never overflows
    return {"swish": (v * np.where(v < 0.0, small, 1.0) / (1.0 + small)).astype(np.float32)}
