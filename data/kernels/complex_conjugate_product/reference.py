import numpy as np


TOLERANCE = {"z": (1e-5, 1e-5)}


def make_inputs(rng, n, values="normal"):
    x, y = rng.normal(0.0, 1.0, (n, 2)), rng.normal(0.0, 1.0, (n, 2))
    if values == "exact":  # integers: a number times its own conjugate is real, and axes give zeros
        x, y = rng.integers(-900, 901, (n, 2)), rng.integers(-900, 901, (n, 2))
        y[::3] = x[::3]
        x[1::5, 0] = 0
        y[2::7, 1] = 0
    return {
        "sizes": np.array([n], dtype=np.int32),
        "x": x.astype(np.float32),
        "y": y.astype(np.float32),
    }


def reference(inputs):
    x, y = inputs["x"].astype(np.float64), inputs["y"].astype(np.float64)
    real = x[:, 0] * y[:, 0] + x[:, 1] * y[:, 1]
    imaginary = x[:, 1] * y[:, 0] - x[:, 0] * y[:, 1]
    return {"z": np.stack([real, imaginary], axis=1).astype(np.float32)}
