import numpy as np


# Integers are exact.
TOLERANCE = {"next_state": (0, 0), "advanced": (0, 0)}


def make_inputs(rng, height, width, colors):
    make_inputs.colors = colors
    return {"state": rng.integers(0, colors, (height, width)).astype(np.int32)}


def reference(inputs):
    s = inputs["state"]
    n = (s + 1) % make_inputs.colors
    hit = np.zeros(s.shape, bool)
    for axis in (0, 1):
        for d in (1, -1):
            hit |= np.roll(s, d, axis) == n
    return {"next_state": np.where(hit, n, s).astype(np.int32), "advanced": hit.sum(1).astype(np.int32)}
