import numpy as np


# Four products that may cancel, then one exponential (expf or __expf).
TOLERANCE = {"y": (2e-5, 5e-6), "next_state": (0, 0)}


def make_inputs(rng, batch, channels):
    f = np.float32
    return {
        "state": rng.normal(0, 1.5, (batch, channels, 4)).astype(f),
        "x": rng.normal(0, 1.5, (batch, channels)).astype(f),
        "taps": rng.normal(0, 0.8, (channels, 4)).astype(f),
        "bias": rng.normal(0, 0.5, channels).astype(f),
    }


def reference(inputs):
    n = np.concatenate([inputs["state"][:, :, 1:], inputs["x"][:, :, None]], 2)
    z = inputs["bias"].astype(np.float64) + (inputs["taps"].astype(np.float64) * n).sum(2)
    return {"y": (z / (1.0 + np.exp(-z))).astype(np.float32), "next_state": n}
