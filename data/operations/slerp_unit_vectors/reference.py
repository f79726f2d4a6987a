import numpy as np


# arccos of a float32 dot product is off by up to 1e-6 at angles near 0.2 or 2.9, where 1 / sin is about 5.
TOLERANCE = {"c": (1e-4, 3e-5)}


def make_inputs(rng, n):
    a = rng.normal(0.0, 1.0, (n, 3))
    a /= np.linalg.norm(a, axis=1, keepdims=True)
    p = np.cross(a, rng.normal(0.0, 1.0, (n, 3)))
    p /= np.linalg.norm(p, axis=1, keepdims=True)
    theta = rng.uniform(0.22, 2.88, (n, 1))
    b = np.cos(theta) * a + np.sin(theta) * p
    return {"a": a.astype(np.float32), "b": b.astype(np.float32), "t": rng.uniform(0.0, 1.0, n).astype(np.float32)}


def reference(inputs):
    a, b, t = (inputs[k].astype(np.float64) for k in "abt")
    theta = np.arccos((a * b).sum(axis=1))
    u, v = np.sin((1.0 - t) * theta) / np.sin(theta), np.sin(t * theta) / np.sin(theta)
    return {"c": (u[:, None] * a + v[:, None] * b).astype(np.float32)}
