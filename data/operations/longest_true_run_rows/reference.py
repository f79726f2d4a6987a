import numpy as np


# Integers are exact.
TOLERANCE = {"length": (0, 0), "start": (0, 0)}


def make_inputs(rng, rows, cols):
    mask = rng.random((rows, cols)) < rng.uniform(0.1, 0.97, (rows, 1))
    mask[rng.integers(0, rows, 3)] = False
    mask[rng.integers(0, rows)] = True
    return {"mask": mask.astype(np.uint8)}


def reference(inputs):
    m = inputs["mask"] != 0
    c = np.arange(m.shape[1])
    gap = np.maximum.accumulate(np.where(m, -1, c), axis=1)
    run = c - gap
    end = run.argmax(axis=1)
    length = run[np.arange(len(m)), end]
    return {"length": length.astype(np.int32), "start": np.where(length > 0, end - length + 1, -1).astype(np.int32)}
