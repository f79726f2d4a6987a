import numpy as np


# Seven products in float32 with values up to about 10; the alternating weights of the slope cancel.
TOLERANCE = {"smooth": (1e-5, 1e-5), "slope": (1e-5, 1e-5)}


def make_inputs(rng, rows, cols):
    t = np.arange(cols)
    x = rng.uniform(1, 4, (rows, 1)) * np.sin(t * rng.uniform(0.02, 0.5, (rows, 1))) + rng.normal(0, 0.5, (rows, cols))
    return {"trace": x.astype(np.float32)}


def reference(inputs):
    x = np.pad(inputs["trace"].astype(np.float64), ((0, 0), (3, 3)), mode="reflect")
    n = x.shape[1] - 6
    a = np.array([-2, 3, 6, 7, 6, 3, -2]) / 21
    b = np.array([22, -67, -58, 0, 58, 67, -22]) / 252
    smooth = sum(a[k] * x[:, k : k + n] for k in range(7))
    slope = sum(b[k] * x[:, k : k + n] for k in range(7))
    return {"smooth": smooth.astype(np.float32), "slope": slope.astype(np.float32)}
