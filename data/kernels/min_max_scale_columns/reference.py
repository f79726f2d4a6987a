import numpy as np


TOLERANCE = {"scaled": (1e-5, 1e-6), "low": (0, 0), "high": (0, 0)}


def make_inputs(rng, rows, cols, values="normal"):
    # Many columns lie on one side of zero, so a range that starts at 0 is wrong.
    x = rng.normal(0.0, 1.0, (rows, cols)) * rng.uniform(0.1, 5.0, cols) + rng.uniform(-40.0, 40.0, cols)
    if values == "extremes":  # large magnitudes, a constant column, and both zeros
        x[:, 0] *= 1.0e30
        x[:, 1] = -7.25
        x[:, 2] = 0.0
        x[rows // 2, 2] = -0.0
        x[:, 3] = -np.abs(x[:, 3])
        x[-1, 3] = 1.0e36
    return {"sizes": np.array([rows, cols], dtype=np.int32), "x": x.astype(np.float32)}


def reference(inputs):
    x = inputs["x"].astype(np.float64)
    low, high = x.min(axis=0), x.max(axis=0)
    span = high - low
    scaled = (x - low) / np.where(span > 0.0, span, 1.0)
    return {
        "scaled": scaled.astype(np.float32),
        "low": low.astype(np.float32),
        "high": high.astype(np.float32),
    }
