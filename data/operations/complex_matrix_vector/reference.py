import numpy as np


# float32 sums of up to 2 * 2048 products of order one: absolute error below 1e-3.
TOLERANCE = {"y": (1e-4, 1e-3)}


def make_inputs(rng, rows, cols):
    return {
        "a": rng.normal(0.1, 1.0, (rows, cols, 2)).astype(np.float32),
        "x": rng.normal(-0.2, 1.0, (cols, 2)).astype(np.float32),
    }


def reference(inputs):
    a = inputs["a"].astype(np.float64)
    x = inputs["x"].astype(np.float64)
    y = (a[..., 0] + 1j * a[..., 1]) @ (x[:, 0] - 1j * x[:, 1])
    return {"y": np.stack([y.real, y.imag], axis=1).astype(np.float32)}
