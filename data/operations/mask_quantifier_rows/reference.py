import numpy as np


# Bit flags are exact.
TOLERANCE = {"flags": (0, 0)}


def make_inputs(rng, rows, cols):
    density = rng.choice([0.0, 0.3, 1.0, 0.97], (rows, 1))
    mask = (rng.random((rows, cols)) < density) * rng.integers(1, 256, (rows, cols))
    r = np.nonzero(rng.random(rows) < 0.3)[0]
    mask[r] = 0
    mask[r, rng.integers(0, cols, len(r))] = 7
    mask[rng.random(rows) < 0.1] = 0
    return {"mask": mask.astype(np.uint8)}


def reference(inputs):
    n = (inputs["mask"] != 0).sum(axis=1)
    cols = inputs["mask"].shape[1]
    return {"flags": ((n > 0) * 1 + (n == cols) * 2 + (n == 1) * 4 + (n % 2) * 8).astype(np.uint8)}
