import numpy as np


TOLERANCE = {"blurred": (0, 0)}


def make_inputs(rng):
    # Blocks of one value with noise, so that the blur has edges to smooth.
    coarse = rng.integers(0, 256, (47, 63))
    image = np.kron(coarse, np.ones((8, 8), dtype=np.int64))[:371, :503] + rng.integers(-40, 41, (371, 503))
    return {"gray": np.clip(image, 0, 255).astype(np.uint8)}


def reference(inputs):
    weights = (1, 6, 15, 20, 15, 6, 1)
    padded = np.pad(inputs["gray"].astype(np.int64), 3, mode="edge")
    rows = sum(weight * padded[:, k : k + 503] for k, weight in enumerate(weights))
    total = sum(weight * rows[k : k + 371] for k, weight in enumerate(weights))
    return {"blurred": ((total + 2048) >> 12).astype(np.uint8)}
