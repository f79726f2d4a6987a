import numpy as np


# Sums over at most 128 channels in float32.
TOLERANCE = {"dx": (3e-5, 3e-6)}


def make_inputs(rng, batch, channels, pixels):
    x = rng.normal(0.0, 1.0, (batch, channels, pixels)) * rng.uniform(0.5, 2.0, (batch, 1, pixels))
    return {"x": x.astype(np.float32), "dy": (rng.normal(0.0, 1.0, x.shape) + 0.3 * x).astype(np.float32)}


def reference(inputs):
    x, dy = inputs["x"].astype(np.float64), inputs["dy"].astype(np.float64)
    length = np.sqrt((x * x).sum(1, keepdims=True) + 1e-10)
    y = x / length
    return {"dx": ((dy - y * (y * dy).sum(1, keepdims=True)) / length).astype(np.float32)}
