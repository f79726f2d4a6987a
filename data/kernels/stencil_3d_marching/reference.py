import numpy as np


TOLERANCE = {"filtered": (1e-5, 1e-5)}


def make_inputs(rng, nz, ny, nx, values="normal"):
    volume, weights = rng.normal(0.0, 1.0, (nz, ny, nx)), [0.4, 0.11, -0.07]
    if values == "spikes":  # lone points, some on the faces of the volume; weights that do not cancel
        volume = np.where(rng.random((nz, ny, nx)) < 0.02, rng.choice([-1000.0, 1.0, 1000.0], (nz, ny, nx)), 0.0)
        volume[0, 0, 0] = volume[-1, -1, -1] = 500.0
        weights = [-6.0, 1.0, 0.5]
    return {
        "sizes": np.array([nz, ny, nx], dtype=np.int32),
        "volume": volume.astype(np.float32),
        "weights": np.array(weights, dtype=np.float32),
    }


def reference(inputs):
    padded = np.pad(inputs["volume"].astype(np.float64), 1)
    weights = inputs["weights"].astype(np.float64)
    sides = padded[1:-1, 1:-1, :-2] + padded[1:-1, 1:-1, 2:] + padded[1:-1, :-2, 1:-1] + padded[1:-1, 2:, 1:-1]
    ends = padded[:-2, 1:-1, 1:-1] + padded[2:, 1:-1, 1:-1]
    filtered = weights[0] * padded[1:-1, 1:-1, 1:-1] + weights[1] * sides + weights[2] * ends
    return {"filtered": filtered.astype(np.float32)}
