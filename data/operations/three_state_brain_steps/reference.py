import numpy as np


# States are integers: exact.
TOLERANCE = {"grid_out": (0, 0)}


def make_inputs(rng, height, width, steps):
    make_inputs.steps = steps
    return {"grid_in": rng.choice(3, (height, width), p=[0.55, 0.25, 0.2]).astype(np.uint8)}


def reference(inputs):
    s = inputs["grid_in"]
    for _ in range(make_inputs.steps):
        f = (s == 1).astype(np.uint8)
        row = f + np.roll(f, 1, 1) + np.roll(f, -1, 1)
        n = row + np.roll(row, 1, 0) + np.roll(row, -1, 0) - f
        s = np.where(s == 1, 2, np.where(s == 2, 0, (n == 2).astype(np.uint8))).astype(np.uint8)
    return {"grid_out": s}
