import numpy as np


# 1 - w*w cancels for large x (about 1e-7 absolute, times |x| and |grad_out|).
TOLERANCE = {"grad_in": (2e-5, 1e-5)}


def make_inputs(rng, rows, cols):
    x = rng.normal(0.0, 2.0, (rows, cols))
    far = rng.random((rows, cols)) < 0.02
    x[far] = rng.uniform(-40.0, 40.0, int(far.sum()))
    return {"x": x.astype(np.float32), "grad_out": rng.normal(0.0, 1.0, (rows, cols)).astype(np.float32)}


def reference(inputs):
    x = inputs["x"].astype(np.float64)
    w = np.tanh(np.logaddexp(0.0, x))
    d = w + x / (1.0 + np.exp(-x)) * (1.0 - w * w)
    return {"grad_in": (inputs["grad_out"].astype(np.float64) * d).astype(np.float32)}
