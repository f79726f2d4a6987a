import numpy as np


# Codes are integers: exact (inputs keep 0.01 steps away from halves). y: one or two products in float32.
TOLERANCE = {"code": (0, 0), "y": (1e-6, 0)}


def make_inputs(rng, batch, channels, plane):
    clip = rng.uniform(0.5, 6.0, channels).astype(np.float32)
    steps = rng.integers(-8, 19, (batch, channels, plane)) + rng.uniform(-0.49, 0.49, (batch, channels, plane))
    x = steps * (clip.astype(np.float64) / 15.0)[None, :, None]
    return {"x": x.astype(np.float32), "clip": clip}


def reference(inputs):
    a = inputs["clip"].astype(np.float64)[None, :, None]
    code = np.rint(np.clip(inputs["x"].astype(np.float64), 0.0, a) * (15.0 / a))
    return {"code": code.astype(np.uint8), "y": (code * (a / 15.0)).astype(np.float32)}
