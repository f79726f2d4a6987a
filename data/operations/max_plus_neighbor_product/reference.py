import numpy as np


# All values are multiples of 1/4 of small size, so that sums and ties are exact.
TOLERANCE = {"best": (0, 0), "choice": (0, 0)}


def make_inputs(rng, nodes, width):
    neighbor = rng.integers(0, nodes, (nodes, width)).astype(np.int32)
    neighbor[rng.random((nodes, width)) < rng.random((nodes, 1))] = -1
    return {
        "neighbor": neighbor,
        "gain": (rng.integers(-40, 41, (nodes, width)) * 0.25).astype(np.float32),
        "potential": (rng.integers(-30, 31, nodes) * 0.25).astype(np.float32),
    }


def reference(inputs):
    neighbor = inputs["neighbor"]
    total = np.where(neighbor < 0, np.float32(-1000), inputs["gain"] + inputs["potential"][np.maximum(neighbor, 0)])
    choice = total.argmax(axis=1)
    best = total.max(axis=1)
    return {"best": best, "choice": np.where(best == -1000, -1, choice).astype(np.int32)}
