import numpy as np


# Five squares and one power in float32 (powf or its fast variants): about 1e-6 relative.
TOLERANCE = {"y": (3e-5, 1e-6)}


def make_inputs(rng, batch, channels, pixels):
    return {"x": (rng.normal(0.0, 3.0, (batch, channels, pixels))).astype(np.float32)}


def reference(inputs):
    x = inputs["x"].astype(np.float64)
    c = x.shape[1]
    q = np.pad(x * x, ((0, 0), (2, 2), (0, 0)))
    s = sum(q[:, k : k + c] for k in range(5))
    return {"y": (x * (2.0 + 0.1 * s) ** -0.75).astype(np.float32)}
