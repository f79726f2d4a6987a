import numpy as np


# Cells are copied: exact.
TOLERANCE = {"ghosted": (0, 0)}


def make_inputs(rng, tiles_y, tiles_x, size):
    return {"tiles": rng.normal(0, 1, (tiles_y, tiles_x, size, size)).astype(np.float32)}


def reference(inputs):
    tiles = inputs["tiles"]
    ty, tx, n, _ = tiles.shape
    field = tiles.transpose(0, 2, 1, 3).reshape(ty * n, tx * n)
    field = np.pad(field, 2, mode="wrap")
    rows = (np.arange(ty)[:, None] * n + np.arange(n + 4))[:, None, :, None]
    cols = (np.arange(tx)[:, None] * n + np.arange(n + 4))[None, :, None, :]
    return {"ghosted": field[rows, cols]}
