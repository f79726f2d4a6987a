import numpy as np


# Products only; near t = -2 the factor t + 2 keeps an absolute error of about 2e-7.
TOLERANCE = {"y": (1e-5, 2e-6)}


def make_inputs(rng, rows, cols):
    return {
        "x": rng.normal(0.0, 1.5, (rows, cols)).astype(np.float32),
        "scale": (rng.uniform(0.5, 2.0, rows) * rng.choice([1.0, 1.0, -1.0], rows)).astype(np.float32),
    }


def reference(inputs):
    t = inputs["x"].astype(np.float64) * inputs["scale"].astype(np.float64)[:, None]
    return {"y": (t / 2.0 * np.clip(t + 2.0, 0.0, 2.0)).astype(np.float32)}
