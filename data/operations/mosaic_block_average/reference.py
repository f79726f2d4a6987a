import numpy as np


# Integer sums and divisions: exact.
TOLERANCE = {"mosaic": (0, 0)}


def make_inputs(rng, height, width):
    base = rng.integers(0, 200, (height // 7 + 1, width // 9 + 1, 3)).repeat(7, 0).repeat(9, 1)[:height, :width]
    return {"picture": (base + rng.integers(0, 56, (height, width, 3))).astype(np.uint8)}


def reference(inputs):
    v = inputs["picture"].astype(np.int64)
    rows, cols = np.arange(0, v.shape[0], 12), np.arange(0, v.shape[1], 12)

    def add(a):
        return np.add.reduceat(np.add.reduceat(a, rows, axis=0), cols, axis=1)

    count = add(np.ones((*v.shape[:2], 1), dtype=np.int64))
    mean = (2 * add(v) + count) // (2 * count)
    return {"mosaic": mean.repeat(12, 0).repeat(12, 1)[: v.shape[0], : v.shape[1]].astype(np.uint8)}
