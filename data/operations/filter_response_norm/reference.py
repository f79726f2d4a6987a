import numpy as np


# One float32 sum of squares a plane and a square root; products of order one.
TOLERANCE = {"y": (2e-5, 5e-6)}


def make_inputs(rng, batch, channels, pixels):
    x = rng.normal(0.3, 1.0, (batch, channels, pixels)) * rng.uniform(0.05, 4.0, (batch, channels, 1))
    return {
        "x": x.astype(np.float32),
        "gamma": rng.normal(1.0, 0.5, channels).astype(np.float32),
        "beta": rng.normal(0.0, 0.5, channels).astype(np.float32),
        "tau": rng.normal(-0.7, 0.5, channels).astype(np.float32),
    }


def reference(inputs):
    x = inputs["x"].astype(np.float64)
    g, b, t = (inputs[k].astype(np.float64)[None, :, None] for k in ("gamma", "beta", "tau"))
    return {"y": np.maximum(g * x / np.sqrt((x * x).mean(2, keepdims=True) + 1e-6) + b, t).astype(np.float32)}
