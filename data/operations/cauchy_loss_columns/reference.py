import numpy as np


# One subtraction, one log1p and a few products in float32; relative to the exact residual of the float32 inputs.
TOLERANCE = {"loss": (1e-4, 1e-6)}


def make_inputs(rng, rows, cols):
    target = rng.normal(0.0, 4.0, (rows, cols)).astype(np.float32)
    spread = rng.choice([0.05, 1.0, 20.0], (rows, cols))
    pred = (target + spread * rng.standard_normal((rows, cols))).astype(np.float32)
    return {"pred": pred, "target": target, "scale": rng.uniform(0.3, 5.0, cols).astype(np.float32)}


def reference(inputs):
    r = inputs["pred"].astype(np.float64) - inputs["target"]
    c = inputs["scale"].astype(np.float64)
    return {"loss": (0.5 * c * c * np.log1p((r / c) ** 2)).astype(np.float32)}
