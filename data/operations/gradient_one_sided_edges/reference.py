import numpy as np


# Differences of values up to 20 times 1/(2h) = 2: rounding of the last bit gives about 1e-5 absolute.
TOLERANCE = {"grad_x": (1e-5, 5e-5), "grad_y": (1e-5, 1e-4)}


def make_inputs(rng, rows, cols):
    y, x = np.indices((rows, cols))
    f = 4.0 * np.sin(0.13 * x) * np.cos(0.07 * y) + rng.normal(0.0, 1.0, (rows, cols))
    return {"field": f.astype(np.float32)}


def reference(inputs):
    f = inputs["field"].astype(np.float64)
    gx = np.gradient(f, 0.5, axis=1, edge_order=2)
    gy = np.gradient(f, 0.25, axis=0, edge_order=2)
    return {"grad_x": gx.astype(np.float32), "grad_y": gy.astype(np.float32)}
