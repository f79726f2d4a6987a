import numpy as np


# Values and gains have few bits, so products are exact; the bound only admits a change of order.
TOLERANCE = {"balanced": (1e-6, 0), "clipped": (0, 0)}


def make_inputs(rng, batch, height, width):
    level = rng.integers(100, 257, (batch, 3, 1, 1))
    images = np.floor(rng.random((batch, 3, height, width)) * level) / 256
    return {"images": images.astype(np.float32), "gains": (rng.integers(40, 120, (batch, 3)) / 64).astype(np.float32)}


def reference(inputs):
    p = inputs["images"].astype(np.float64) * inputs["gains"].astype(np.float64)[:, :, None, None]
    return {
        "balanced": np.minimum(p, 1).astype(np.float32),
        "clipped": (p > 1).any(axis=1).sum(axis=(1, 2)).astype(np.int32),
    }
