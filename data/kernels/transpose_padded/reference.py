import numpy as np


TOLERANCE = {"transposed": (0, 0)}


def make_inputs(rng, rows, cols, values="normal"):
    matrix = rng.normal(0.0, 1.0, (rows, cols))
    if values == "signed zeros":  # between the largest and the smallest normal magnitudes of float32
        matrix = rng.choice([-3.0e38, -1.2e-38, -0.0, 0.0, 1.2e-38, 3.0e38], (rows, cols))
    return {"sizes": np.array([rows, cols], dtype=np.int32), "matrix": matrix.astype(np.float32)}


def reference(inputs):
    return {"transposed": np.ascontiguousarray(inputs["matrix"].T)}
