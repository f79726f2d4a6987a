import numpy as np


# The decomposition is exact.
TOLERANCE = {"fraction": (0, 0), "exponent": (0, 0)}


def make_inputs(rng, n):
    size = np.exp2(rng.uniform(-148.9, 127.9, n))
    near = rng.random(n) < 0.6
    size[near] = np.exp2(rng.uniform(-12.0, 12.0, int(near.sum())))
    x = size * rng.choice([-1.0, 1.0], n)
    x[rng.random(n) < 0.01] = 0.0
    return {"x": x.astype(np.float32)}


def reference(inputs):
    fraction, exponent = np.frexp(inputs["x"])
    return {"fraction": fraction.astype(np.float32), "exponent": exponent.astype(np.int32)}
