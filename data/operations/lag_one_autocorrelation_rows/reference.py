import numpy as np


# Ratios of float32 sums of up to 16384 terms after subtracting the mean.
TOLERANCE = {"rho": (1e-4, 1e-4), "dw": (1e-4, 1e-5)}


def make_inputs(rng, rows, cols):
    e = rng.standard_normal((rows, cols))
    mix = rng.uniform(-1.0, 1.0, (rows, 1))
    x = e.copy()
    x[:, 1:] += mix * e[:, :-1]
    x[:, 2:] += 0.5 * mix * e[:, :-2]
    return {"x": (x + rng.uniform(-6.0, 6.0, (rows, 1))).astype(np.float32)}


def reference(inputs):
    x = inputs["x"].astype(np.float64)
    d = x - x.mean(axis=1, keepdims=True)
    v = (d * d).sum(axis=1)
    step = np.diff(x, axis=1)
    return {
        "rho": ((d[:, 1:] * d[:, :-1]).sum(axis=1) / v).astype(np.float32),
        "dw": ((step * step).sum(axis=1) / v).astype(np.float32),
    }
