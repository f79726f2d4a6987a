import numpy as np


# Powers of two and integers: exact.
TOLERANCE = {"y": (0, 0), "exponent": (0, 0)}


def make_inputs(rng, rows, cols):
    v = np.exp2(rng.uniform(-10.0, 5.0, (rows, cols))) * rng.choice([1.0, 1.0, 1.0, -1.0], (rows, cols))
    edge = rng.random((rows, cols)) < 0.05
    v[edge] = (np.exp2(rng.integers(-9, 5, (rows, cols))) * rng.choice([1.0, 1.5], (rows, cols)))[edge]
    v[rng.random((rows, cols)) < 0.02] = 0.0
    return {"x": v.astype(np.float32)}


def reference(inputs):
    v = inputs["x"]
    dead = v < np.float32(2.0**-8)
    m, e = np.frexp(np.where(dead, np.float32(1.0), v))  # v = m * 2^e with m in [0.5, 1)
    e = np.minimum(e - 1 + (m >= 0.75), 3)
    return {
        "y": np.where(dead, 0.0, np.exp2(e.astype(np.float64))).astype(np.float32),
        "exponent": np.where(dead, -128, e).astype(np.int32),
    }
