import numpy as np


# Kahan's method is within 1.5 ulp of the exact value; products of float32 are exact in float64.
TOLERANCE = {"result": (1e-6, 1e-30)}


def make_inputs(rng, n):
    a, b, c = (rng.uniform(0.5, 2.0, n) * rng.choice([-1.0, 1.0], n) for _ in range(3))
    a, b, c = (v.astype(np.float32) for v in (a, b, c))
    near = a.astype(np.float64) * b / c * (1.0 + rng.choice([0.0, 1e-6, 1e-3], n) * rng.normal(0.0, 1.0, n))
    d = np.where(rng.random(n) < 0.7, near, rng.normal(0.0, 1.0, n))
    return {"a": a, "b": b, "c": c, "d": d.astype(np.float32)}


def reference(inputs):
    a, b, c, d = (inputs[k].astype(np.float64) for k in "abcd")
    return {"result": (a * b - c * d).astype(np.float32)}
