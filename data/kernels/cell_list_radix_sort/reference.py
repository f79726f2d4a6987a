import numpy as np


TOLERANCE = {"order": (0, 0), "cell_starts": (0, 0)}


def make_inputs(rng, particles, side, values="clustered"):
    positions = rng.random((particles, 3), dtype=np.float32)
    near = rng.random(particles) < 0.5  # half of them crowd in the middle
    positions[near] = np.float32(0.5) + np.float32(0.1) * (positions[near] - np.float32(0.5))
    if values == "faces":  # on the faces of cells and of the cube, where rounding decides
        positions = (rng.integers(0, 2 * side + 1, (particles, 3)) / (2.0 * side)).astype(np.float32)
        positions[::7] = 1.0
    return {"sizes": np.array([particles, side], dtype=np.int32), "positions": positions}


def reference(inputs):
    side = int(inputs["sizes"][1])
    product = inputs["positions"] * np.float32(side)  # in single precision, as specified
    x, y, z = np.minimum(product.astype(np.int32), side - 1).T
    cells = (z * side + y) * side + x
    counts = np.bincount(cells, minlength=side**3)
    return {
        "order": np.argsort(cells, kind="stable").astype(np.int32),
        "cell_starts": np.concatenate([[0], np.cumsum(counts)]).astype(np.int32),
    }
