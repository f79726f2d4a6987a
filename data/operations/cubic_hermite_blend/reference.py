import numpy as np


# Four products of size below 20 in float32, which may cancel.
TOLERANCE = {"path": (1e-5, 1e-5)}


def make_inputs(rng, frames, points):
    out = {k: rng.normal(0.0, 2.0, points).astype(np.float32) for k in ("p0", "m0", "p1", "m1")}
    t = rng.uniform(0.0, 1.0, frames)
    t[0], t[-1] = 0.0, 1.0
    return {**out, "t": t.astype(np.float32)}


def reference(inputs):
    p0, m0, p1, m1, t = (inputs[k].astype(np.float64) for k in ("p0", "m0", "p1", "m1", "t"))
    a, b = 2 * t**3 - 3 * t**2 + 1, t**3 - 2 * t**2 + t
    c, d = 3 * t**2 - 2 * t**3, t**3 - t**2
    path = np.outer(a, p0) + np.outer(b, m0) + np.outer(c, p1) + np.outer(d, m1)
    return {"path": path.astype(np.float32)}
