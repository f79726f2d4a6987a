import numpy as np


TOLERANCE = {"locals": (0, 0)}


def make_inputs(rng, rows, cols, block, p, q, values="normal"):
    matrix = rng.normal(0.0, 1.0, (rows, cols))
    if values == "extremes":  # values that a float would lose
        matrix = rng.choice([1.0e300, -1.0e-300, 1.0 + 2.0**-52, -0.0], (rows, cols))
    return {"sizes": np.array([rows, cols, block, p, q], dtype=np.int32), "matrix": matrix}


def reference(inputs):
    rows, cols, block, p, q = (int(size) for size in inputs["sizes"])
    local_rows, local_cols = -(-rows // (block * p)), -(-cols // (block * q))  # in blocks
    padded = np.zeros((local_rows * p * block, local_cols * q * block))
    padded[:rows, :cols] = inputs["matrix"]
    pieces = padded.reshape(local_rows, p, block, local_cols, q, block).transpose(1, 4, 0, 2, 3, 5)
    return {"locals": pieces.reshape(p * q, local_rows * block, local_cols * block)}
