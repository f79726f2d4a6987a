import numpy as np


# A handful of float32 operations on numbers of unit size; both outputs are continuous where a changes sign.
TOLERANCE = {"speed": (2e-5, 2e-5), "lost": (1e-4, 1e-5)}


def make_inputs(rng, pairs):
    angle = rng.uniform(0, 2 * np.pi, pairs)
    first = rng.uniform(-5, 5, (pairs, 2))
    second = first + np.stack([np.cos(angle), np.sin(angle)], axis=1) * rng.uniform(0.5, 2, (pairs, 1))
    return {
        "state": np.concatenate([first, second, rng.normal(0, 1, (pairs, 4))], axis=1).astype(np.float32),
        "mass": rng.uniform(0.5, 4, (pairs, 2)).astype(np.float32),
    }


def reference(inputs):
    s, m = inputs["state"].astype(np.float64), inputs["mass"].astype(np.float64)
    n = s[:, 2:4] - s[:, 0:2]
    n /= np.linalg.norm(n, axis=1, keepdims=True)
    a = np.maximum(((s[:, 4:6] - s[:, 6:8]) * n).sum(axis=1), 0)
    reduced = 1 / (1 / m[:, 0] + 1 / m[:, 1])
    push = (1.8 * a * reduced)[:, None] * n
    speed = np.concatenate([s[:, 4:6] - push / m[:, :1], s[:, 6:8] + push / m[:, 1:]], axis=1)
    return {"speed": speed.astype(np.float32), "lost": (0.18 * a * a * reduced).astype(np.float32)}
