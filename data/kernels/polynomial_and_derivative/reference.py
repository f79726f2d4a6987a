import numpy as np


TOLERANCE = {"values": (1e-4, 2e-5), "slopes": (1e-4, 2e-5)}


def make_inputs(rng, curves, degree, n, points="uniform"):
    coefficients = rng.normal(0.0, 1.0, (curves, degree + 1))
    x = rng.uniform(-1.0, 1.0, n)
    if points == "integers":  # both ends, where all powers count, and 0, where two coefficients do
        coefficients = rng.integers(-9, 10, (curves, degree + 1))
        x = rng.integers(-1, 2, n)
    return {
        "sizes": np.array([curves, degree, n], dtype=np.int32),
        "coefficients": coefficients.astype(np.float32),
        "x": x.astype(np.float32),
    }


def reference(inputs):
    c, x = inputs["coefficients"].astype(np.float64), inputs["x"].astype(np.float64)
    values = np.repeat(c[:, -1:], x.size, axis=1)
    slopes = np.zeros_like(values)
    for k in range(c.shape[1] - 2, -1, -1):
        slopes = slopes * x + values
        values = values * x + c[:, k : k + 1]
    return {"values": values.astype(np.float32), "slopes": slopes.astype(np.float32)}
