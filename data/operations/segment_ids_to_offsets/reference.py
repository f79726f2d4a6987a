import numpy as np


# Integers: exact.
TOLERANCE = {"offsets": (0, 0), "excess": (0, 0)}


def make_inputs(rng, items, segments):
    draws = 2 + (segments - 5) * rng.beta(1.2, 1.8, items)
    room = rng.integers(0, max(2, 2 * items // segments), segments)
    return {"ids": np.sort(draws.astype(np.int32)), "capacity": room.astype(np.int32)}


def reference(inputs):
    ids = inputs["ids"]
    lengths = np.bincount(ids, minlength=len(inputs["capacity"]))
    offsets = np.concatenate(([0], np.cumsum(lengths)))
    return {
        "offsets": offsets.astype(np.int32),
        "excess": np.maximum(lengths - inputs["capacity"], 0).astype(np.int32),
    }
