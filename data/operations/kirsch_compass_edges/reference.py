import numpy as np


# Integers: exact.
TOLERANCE = {"strength": (0, 0), "direction": (0, 0)}


def make_inputs(rng, height, width):
    y, x = np.mgrid[:height, :width]
    shapes = 100 * (np.hypot(x - width / 3, y - height / 2) < height / 4) + 60 * ((x + y) // 16 % 2)
    noise = rng.integers(0, 60, (height, width)) * (rng.random((height, width)) < 0.7)
    g = shapes + noise
    g[: height // 8] = 30
    return {"gray": g.astype(np.uint8)}


def reference(inputs):
    g = inputs["gray"].astype(np.int32)
    h, w = g.shape
    p = np.pad(g, 1, mode="edge")
    shift = [(-1, 0), (-1, 1), (0, 1), (1, 1), (1, 0), (1, -1), (0, -1), (-1, -1)]
    n = np.stack([p[1 + dy : 1 + dy + h, 1 + dx : 1 + dx + w] for dy, dx in shift])
    r = 8 * (n + np.roll(n, 1, axis=0) + np.roll(n, -1, axis=0)) - 3 * n.sum(axis=0)
    return {"strength": r.max(axis=0).astype(np.int32), "direction": r.argmax(axis=0).astype(np.uint8)}
