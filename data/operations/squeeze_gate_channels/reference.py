import numpy as np


# Means of up to 3136 float32 values in any order, error some 1e-6, times weight (up to 4) within a sigmoid.
TOLERANCE = {"y": (2e-5, 1e-6), "gate": (2e-5, 1e-6)}


def make_inputs(rng, batch, channels, plane):
    x = rng.normal(0.0, 1.0, (batch, channels, plane)) + rng.normal(0.0, 0.8, (batch, channels, 1))
    return {
        "x": x.astype(np.float32),
        "weight": rng.uniform(-4.0, 4.0, channels).astype(np.float32),
        "shift": rng.normal(0.0, 1.0, channels).astype(np.float32),
    }


def reference(inputs):
    x = inputs["x"].astype(np.float64)
    s = inputs["weight"].astype(np.float64) * x.mean(axis=2) + inputs["shift"].astype(np.float64)
    gate = 1.0 / (1.0 + np.exp(-s))
    return {"y": (x * gate[:, :, None]).astype(np.float32), "gate": gate.astype(np.float32)}
