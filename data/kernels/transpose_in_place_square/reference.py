import numpy as np


TOLERANCE = {"transposed": (0, 0)}


def make_inputs(rng, n, values="normal"):
    matrix = rng.normal(0.0, 1.0, (n, n))
    if values == "symmetric":  # symmetric but for one pair of elements: a tile swapped twice shows
        matrix = np.triu(matrix) + np.triu(matrix, 1).T
        matrix[n - 1, 0], matrix[0, n - 1] = 3.0e38, -0.0
    return {"sizes": np.array([n], dtype=np.int32), "matrix": matrix.astype(np.float32)}


def reference(inputs):
    return {"transposed": np.ascontiguousarray(inputs["matrix"].T)}
