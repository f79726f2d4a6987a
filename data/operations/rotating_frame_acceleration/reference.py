import numpy as np


# Sums of products of size up to about 100 in float32.
TOLERANCE = {"apparent": (1e-5, 3e-4)}


def make_inputs(rng, bodies):
    return {
        "position": rng.normal(0, 10, (bodies, 3)).astype(np.float32),
        "velocity": rng.normal(0, 5, (bodies, 3)).astype(np.float32),
        "spin": rng.normal(0, 1, (2, 3)).astype(np.float32),
    }


def reference(inputs):
    r, v = inputs["position"].astype(np.float64), inputs["velocity"].astype(np.float64)
    w, rate = inputs["spin"].astype(np.float64)
    a = -2 * np.cross(w, v) - np.cross(w, np.cross(w, r)) - np.cross(rate, r)
    return {"apparent": a.astype(np.float32)}
