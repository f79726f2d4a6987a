import numpy as np


# Two float32 sums of a few thousand terms and a square root: errors of some 1e-6 relative to the row's scale.
TOLERANCE = {"standardized": (5e-5, 2e-6)}


def make_inputs(rng, filters, fan_in):
    w = rng.normal(0.0, 1.0, (filters, fan_in)) * rng.uniform(0.02, 0.5, (filters, 1)) + rng.normal(
        0.0, 0.1, (filters, 1)
    )
    return {"weight": w.astype(np.float32), "gain": rng.normal(1.0, 0.6, filters).astype(np.float32)}


def reference(inputs):
    w = inputs["weight"].astype(np.float64)
    d = w - w.mean(1, keepdims=True)
    v = (d * d).mean(1, keepdims=True)
    return {"standardized": (inputs["gain"][:, None] * d / np.sqrt(v * w.shape[1] + 1e-4)).astype(np.float32)}
