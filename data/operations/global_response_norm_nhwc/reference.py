import numpy as np


# Float32 sums of squares over up to 3136 positions and a mean over channels.
TOLERANCE = {"y": (1e-4, 1e-5)}


def make_inputs(rng, batch, pixels, channels):
    x = rng.normal(0.0, 1.0, (batch, pixels, channels)) * rng.uniform(0.1, 3.0, (batch, 1, channels))
    return {
        "x": x.astype(np.float32),
        "gamma": rng.normal(0.0, 1.0, channels).astype(np.float32),
        "beta": rng.normal(0.0, 0.5, channels).astype(np.float32),
    }


def reference(inputs):
    x = inputs["x"].astype(np.float64)
    g = np.sqrt((x * x).sum(1, keepdims=True))
    n = g / (g.mean(2, keepdims=True) + 1e-6)
    return {"y": (inputs["gamma"] * x * n + inputs["beta"] + x).astype(np.float32)}
