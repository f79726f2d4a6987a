import numpy as np


TOLERANCE = {"filtered": (1e-5, 1e-5)}


def make_inputs(rng):
    return {
        "volume": rng.normal(0.0, 1.0, (61, 70, 93)).astype(np.float32),
        "weights": np.array([0.4, 0.11, -0.07], dtype=np.float32),
    }


def reference(inputs):
    padded = np.pad(inputs["volume"].astype(np.float64), 1)
    weights = inputs["weights"].astype(np.float64)
    sides = padded[1:-1, 1:-1, :-2] + padded[1:-1, 1:-1, 2:] + padded[1:-1, :-2, 1:-1] + padded[1:-1, 2:, 1:-1]
    ends = padded[:-2, 1:-1, 1:-1] + padded[2:, 1:-1, 1:-1]
    filtered = weights[0] * padded[1:-1, 1:-1, 1:-1] + weights[1] * sides + weights[2] * ends
    return {"filtered": filtered.astype(np.float32)}
