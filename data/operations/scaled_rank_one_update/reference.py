import numpy as np


# A few float32 roundings of values up to about 50; cancellation leaves an absolute error near 1e-5.
TOLERANCE = {"updated": (1e-5, 2e-5)}


def make_inputs(rng, rows, cols):
    coeffs = np.array([rng.uniform(-2.0, -0.5), rng.uniform(0.3, 1.7)], np.float32)
    return {
        "a": rng.normal(0.0, 1.5, (rows, cols)).astype(np.float32),
        "x": rng.normal(0.0, 1.0, rows).astype(np.float32),
        "y": rng.uniform(-2.0, 3.0, cols).astype(np.float32),
        "coeffs": coeffs,
    }


def reference(inputs):
    a, x, y, k = (inputs[name].astype(np.float64) for name in ("a", "x", "y", "coeffs"))
    return {"updated": (k[1] * a + k[0] * np.outer(x, y)).astype(np.float32)}
