import numpy as np


# Four terms of a handful of float32 operations; terms of opposite sign cancel, hence the absolute part.
TOLERANCE = {"flux_sum": (1e-5, 1e-4)}


def make_inputs(rng, ny, nx):
    return {
        "field": rng.normal(0.0, 3.0, (ny, nx)).astype(np.float32),
        "conductivity": np.exp(rng.uniform(-2.5, 1.5, (ny, nx))).astype(np.float32),
    }


def reference(inputs):
    u = inputs["field"].astype(np.float64)
    k = inputs["conductivity"].astype(np.float64)
    out = np.zeros_like(u)
    fx = 2.0 * k[:, 1:] * k[:, :-1] / (k[:, 1:] + k[:, :-1]) * (u[:, 1:] - u[:, :-1])
    fy = 2.0 * k[1:] * k[:-1] / (k[1:] + k[:-1]) * (u[1:] - u[:-1])
    out[:, :-1] += fx
    out[:, 1:] -= fx
    out[:-1] += fy
    out[1:] -= fy
    return {"flux_sum": out.astype(np.float32)}
