import numpy as np


# Square roots of float32 sums of up to a few hundred squares.
TOLERANCE = {"row_norm": (2e-5, 1e-6), "block_norm": (1e-5, 1e-6)}


def make_inputs(rng, block_rows, blocks, size):
    owner = np.sort((block_rows * rng.random(blocks) ** 1.3).astype(np.int64))
    block = rng.normal(0, 1, (blocks, size, size)) * np.exp(rng.normal(0, 1, (blocks, 1, 1)))
    return {
        "row_start": np.searchsorted(owner, np.arange(block_rows + 1)).astype(np.int32),
        "block": block.astype(np.float32),
    }


def reference(inputs):
    start = inputs["row_start"]
    squares = (inputs["block"].astype(np.float64) ** 2).sum(axis=2)
    total = np.zeros((len(start) - 1, squares.shape[1]))
    filled = np.flatnonzero(np.diff(start) > 0)
    total[filled] = np.add.reduceat(squares, start[filled], axis=0)
    return {
        "row_norm": np.sqrt(total).astype(np.float32),
        "block_norm": np.sqrt(squares.sum(axis=1)).astype(np.float32),
    }
