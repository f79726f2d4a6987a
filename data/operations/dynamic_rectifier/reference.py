import numpy as np


# One product and one sum in float32 before a maximum.
TOLERANCE = {"y": (1e-5, 2e-6)}


def make_inputs(rng, batch, channels, plane):
    coef = np.empty((batch, channels, 2, 2))
    coef[..., 0, 0] = rng.normal(1.0, 0.4, (batch, channels))
    coef[..., 1, 0] = rng.normal(0.0, 0.5, (batch, channels))
    coef[..., 1] = rng.normal(0.0, 0.5, (batch, channels, 2))
    return {"x": rng.normal(0.0, 1.5, (batch, channels, plane)).astype(np.float32), "coef": coef.astype(np.float32)}


def reference(inputs):
    x, c = inputs["x"].astype(np.float64), inputs["coef"].astype(np.float64)
    lines = [c[:, :, k, 0, None] * x + c[:, :, k, 1, None] for k in range(2)]
    return {"y": np.maximum(*lines).astype(np.float32)}
