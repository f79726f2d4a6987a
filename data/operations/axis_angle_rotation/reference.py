import numpy as np


# Sine and cosine of angles up to 7 and about ten roundings on vectors of length about 5.
TOLERANCE = {"rotated": (1e-4, 5e-5)}


def make_inputs(rng, n):
    axes = rng.normal(0.0, 2.0, (n, 3))
    axes[::37] = 0.0
    return {
        "vectors": rng.normal(0.0, 3.0, (n, 3)).astype(np.float32),
        "axes": axes.astype(np.float32),
        "angles": rng.uniform(-7.0, 7.0, n).astype(np.float32),
    }


def reference(inputs):
    v, a = inputs["vectors"].astype(np.float64), inputs["axes"].astype(np.float64)
    length = np.linalg.norm(a, axis=1, keepdims=True)
    u = a / np.where(length == 0, 1.0, length)
    angle = inputs["angles"].astype(np.float64)[:, None]
    c, s = np.cos(angle), np.sin(angle)
    out = v * c + np.cross(u, v) * s + u * (u * v).sum(axis=1, keepdims=True) * (1.0 - c)
    return {"rotated": np.where(length == 0, v, out).astype(np.float32)}
