import numpy as np


# Integers: exact.
TOLERANCE = {"frame": (0, 0), "replaced": (0, 0)}


def make_inputs(rng, height, width):
    now = rng.integers(0, 256, (height, width))
    before = np.clip(now + rng.integers(-15, 16, (height, width)), 0, 255)
    return {"current": now.astype(np.uint8), "previous": before.astype(np.uint8)}


def reference(inputs):
    c, p = inputs["current"].astype(np.int32), inputs["previous"].astype(np.int32)
    moved = np.abs(c - p) > 12
    moved[::2] = False
    out = c.copy()
    odd = np.arange(1, len(c), 2)
    above = c[odd - 1]
    below = np.where((odd + 1 < len(c))[:, None], c[np.minimum(odd + 1, len(c) - 1)], above)
    out[odd] = np.where(moved[odd], (above + below + 1) // 2, c[odd])
    return {"frame": out.astype(np.uint8), "replaced": moved.sum(axis=1).astype(np.int32)}
