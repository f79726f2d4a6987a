import numpy as np


# The column means add up to a million float32 values of size 10 with a spread; partial sums keep 1e-5.
TOLERANCE = {"y_out": (2e-5, 2e-4), "velocity_out": (2e-5, 1e-5), "gain_out": (1e-5, 0)}


def make_inputs(rng, points, dims):
    shape = (points, dims)
    v = rng.standard_normal(shape) * (rng.random(shape) < 0.9)
    out = {
        "y": 5.0 * rng.standard_normal(shape) + rng.normal(0.0, 3.0, dims),
        "grad": 0.005 * rng.standard_normal(shape),
        "velocity": v,
        "gain": np.exp(rng.uniform(-5.0, 1.0, shape)),
    }
    return {k: x.astype(np.float32) for k, x in out.items()}


def reference(inputs):
    y, g, v, a = (inputs[k].astype(np.float64) for k in ("y", "grad", "velocity", "gain"))
    a = np.maximum(np.where((g > 0) == (v > 0), 0.8 * a, a + 0.2), 0.01)
    v = 0.5 * v - 200.0 * a * g
    y = y + v
    out = {"y_out": y - y.mean(axis=0), "velocity_out": v, "gain_out": a}
    return {k: x.astype(np.float32) for k, x in out.items()}
