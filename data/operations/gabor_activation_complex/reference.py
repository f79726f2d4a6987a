import numpy as np


# The phase's float32 rounding (up to 60 rad * 6e-8 = 4e-6) shows in both parts, which are at most 1.
TOLERANCE = {"real": (1e-5, 1e-5), "imag": (1e-5, 1e-5)}


def make_inputs(rng, rows, cols):
    return {
        "x": rng.normal(0.0, 0.8, (rows, cols)).astype(np.float32),
        "omega": rng.uniform(2.0, 20.0, cols).astype(np.float32),
        "scale": rng.uniform(0.2, 2.0, cols).astype(np.float32),
    }


def reference(inputs):
    x = inputs["x"].astype(np.float64)
    phase = inputs["omega"].astype(np.float64) * x
    envelope = np.exp(-((inputs["scale"].astype(np.float64) * x) ** 2))
    return {
        "real": (envelope * np.cos(phase)).astype(np.float32),
        "imag": (envelope * np.sin(phase)).astype(np.float32),
    }
