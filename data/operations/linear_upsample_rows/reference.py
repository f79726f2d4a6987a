import numpy as np


# Three float32 roundings of values up to about 10, which may cancel.
TOLERANCE = {"y": (1e-6, 2e-6)}


def make_inputs(rng, rows, cols):
    return {"x": rng.normal(0, 1.5, (rows, cols)).astype(np.float32)}


def reference(inputs):
    x = inputs["x"].astype(np.float64)
    right = np.concatenate([x[:, 1:], 2 * x[:, -1:] - x[:, -2:-1]], axis=1)
    y = x[:, :, None] + np.arange(8) / 8 * (right - x)[:, :, None]
    return {"y": y.reshape(len(x), -1).astype(np.float32)}
