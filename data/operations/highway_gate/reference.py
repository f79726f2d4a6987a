import numpy as np


# A sigmoid and a tanh in float32, blended; the two parts may cancel.
TOLERANCE = {"y": (1e-5, 3e-6)}


def make_inputs(rng, rows, cols):
    return {
        "x": rng.normal(0.0, 1.0, (rows, cols)).astype(np.float32),
        "hidden": rng.normal(0.0, 2.0, (rows, cols)).astype(np.float32),
        "transform": rng.normal(0.0, 2.0, (rows, cols)).astype(np.float32),
        "bias": rng.normal(-1.0, 0.7, cols).astype(np.float32),
    }


def reference(inputs):
    g = 1.0 / (1.0 + np.exp(-(inputs["transform"].astype(np.float64) + inputs["bias"].astype(np.float64))))
    y = g * np.tanh(inputs["hidden"].astype(np.float64)) + (1.0 - g) * inputs["x"].astype(np.float64)
    return {"y": y.astype(np.float32)}
