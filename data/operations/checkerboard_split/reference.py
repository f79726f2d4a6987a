import numpy as np


# Values are copied: exact.
TOLERANCE = {"red": (0, 0), "black": (0, 0)}


def make_inputs(rng, batch, rows, cols):
    return {"grid": rng.normal(0, 1, (batch, rows, cols)).astype(np.float32)}


def reference(inputs):
    grid = inputs["grid"]
    even = np.add.outer(np.arange(grid.shape[1]), np.arange(grid.shape[2])) % 2 == 0
    return {"red": np.ascontiguousarray(grid[:, even]), "black": np.ascontiguousarray(grid[:, ~even])}
