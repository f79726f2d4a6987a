import numpy as np


# A pure copy: exact.
TOLERANCE = {"taken": (0, 0)}


def make_inputs(rng, rows, cols, picks):
    indices = rng.integers(-rows, rows, (picks, cols))
    indices[0, :3] = (-1, -rows, rows - 1)
    return {"x": rng.normal(0, 3, (rows, cols)).astype(np.float32), "indices": indices.astype(np.int32)}


def reference(inputs):
    x, j = inputs["x"], inputs["indices"].astype(np.int64)
    return {"taken": np.take_along_axis(x, np.where(j < 0, j + len(x), j), axis=0)}
