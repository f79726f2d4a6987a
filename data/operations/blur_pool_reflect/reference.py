import numpy as np


# Weights are exact; 25 products in float32 with signs that may cancel.
TOLERANCE = {"y": (1e-5, 3e-6)}


def make_inputs(rng, channels, height, width):
    return {"x": rng.normal(0.0, 2.0, (channels, height, width)).astype(np.float32)}


def reference(inputs):
    x = inputs["x"].astype(np.float64)
    h, w = x.shape[1:]
    p = np.pad(x, ((0, 0), (2, 2), (2, 2)), mode="reflect")
    k = np.array([1, 4, 6, 4, 1]) / 16.0
    p = sum(k[a] * p[:, a : a + h : 2] for a in range(5))
    return {"y": sum(k[b] * p[:, :, b : b + w : 2] for b in range(5)).astype(np.float32)}
