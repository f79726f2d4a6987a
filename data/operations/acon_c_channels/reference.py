import numpy as np


# A sigmoid in float32 and a sum of two terms that may cancel (size up to 10).
TOLERANCE = {"y": (1e-5, 5e-6)}


def make_inputs(rng, batch, channels, plane):
    beta = rng.normal(1.0, 1.5, channels)
    beta[rng.random(channels) < 0.15] = 0.0
    beta[0] = 0.0
    return {
        "x": rng.normal(0.0, 1.5, (batch, channels, plane)).astype(np.float32),
        "p1": rng.normal(1.0, 0.5, channels).astype(np.float32),
        "p2": rng.normal(0.0, 0.5, channels).astype(np.float32),
        "beta": beta.astype(np.float32),
    }


def reference(inputs):
    x = inputs["x"].astype(np.float64)
    p1, p2, beta = (inputs[k].astype(np.float64)[None, :, None] for k in ("p1", "p2", "beta"))
    d = (p1 - p2) * x
    return {"y": (d / (1.0 + np.exp(-beta * d)) + p2 * x).astype(np.float32)}
