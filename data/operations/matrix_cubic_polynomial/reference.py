import numpy as np


# Two chained float32 products of order 32 with entries of spectral size about one.
TOLERANCE = {"p": (5e-5, 2e-5)}


def make_inputs(rng, count, n):
    return {
        "a": rng.normal(0.0, 1.0 / np.sqrt(n), (count, n, n)).astype(np.float32),
        "coef": (rng.uniform(0.5, 2.0, 4) * rng.choice([-1.0, 1.0], 4)).astype(np.float32),
    }


def reference(inputs):
    a, c = inputs["a"].astype(np.float64), inputs["coef"].astype(np.float64)
    one = np.eye(a.shape[1])
    inner = np.matmul(c[3] * a + c[2] * one, a) + c[1] * one
    return {"p": (np.matmul(inner, a) + c[0] * one).astype(np.float32)}
