import numpy as np


# Values are copied, indices are integers: exact.
TOLERANCE = {"best": (0, 0), "piece": (0, 0)}


def make_inputs(rng, rows, units, pieces):
    z = rng.integers(-20, 20, (rows, units, pieces)) * 0.25
    return {"z": z.astype(np.float32)}


def reference(inputs):
    z = inputs["z"]
    return {"best": z.max(axis=2), "piece": z.argmax(axis=2).astype(np.int32)}
