import numpy as np


# Four products in float32; their sum may cancel.
TOLERANCE = {"y": (1e-5, 3e-6)}


def make_inputs(rng, batch, channels, height, width):
    return {
        "x": rng.normal(0.0, 1.5, (batch, channels, height, width)).astype(np.float32),
        "weights": rng.normal(0.25, 0.5, (channels, 4)).astype(np.float32),
    }


def reference(inputs):
    x = inputs["x"].astype(np.float64)
    e = -np.sort(-np.stack([x[:, :, a::2, b::2] for a in (0, 1) for b in (0, 1)]), axis=0)
    w = inputs["weights"].astype(np.float64).T[:, None, :, None, None]
    return {"y": (e * w).sum(0).astype(np.float32)}
