import numpy as np


# Error-free transformation: exact.
TOLERANCE = {"sum": (0, 0), "error": (0, 0)}


def make_inputs(rng, n):
    a = rng.normal(0.0, 1.0, n) * np.exp2(rng.integers(-10, 11, n))
    b = rng.normal(0.0, 1.0, n) * np.exp2(rng.integers(-10, 11, n))
    cancel = rng.random(n) < 0.15
    b[cancel] = (-a * (1.0 + rng.normal(0.0, 1e-3, n)))[cancel]
    return {"a": a.astype(np.float32), "b": b.astype(np.float32)}


def reference(inputs):
    a, b = inputs["a"], inputs["b"]
    s = a + b
    b_part = s - a  # Knuth's method: exact in float32, where float64 would round small summands away
    error = (a - (s - b_part)) + (b - b_part)
    return {"sum": s, "error": error}
