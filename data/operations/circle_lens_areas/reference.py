import numpy as np


# acos near its ends turns 1e-7 into 3e-4 times r^2, but the square root term makes up for most of it.
TOLERANCE = {"area": (2e-3, 2e-3)}


def make_inputs(rng, n):
    def draw():
        return np.concatenate([rng.uniform(-2.0, 2.0, (n, 2)), rng.uniform(0.4, 2.5, (n, 1))], axis=1)

    return {"a": draw().astype(np.float32), "b": draw().astype(np.float32)}


def reference(inputs):
    a, b = inputs["a"].astype(np.float64), inputs["b"].astype(np.float64)
    d = np.hypot(a[:, 0] - b[:, 0], a[:, 1] - b[:, 1])
    r, R = np.minimum(a[:, 2], b[:, 2]), np.maximum(a[:, 2], b[:, 2])
    e = np.maximum(d, 1e-9)
    p = np.arccos(np.clip((d * d + r * r - R * R) / (2 * e * r), -1, 1))
    q = np.arccos(np.clip((d * d + R * R - r * r) / (2 * e * R), -1, 1))
    k = np.sqrt(np.maximum((r + R - d) * (d + r - R) * (d - r + R) * (d + r + R), 0.0))
    lens = r * r * p + R * R * q - 0.5 * k
    area = np.where(d >= R + r, 0.0, np.where(d <= R - r, np.pi * r * r, lens))
    return {"area": area.astype(np.float32)}
