import numpy as np


# Pixels are moved only: exact.
TOLERANCE = {"flipped": (0, 0)}


def make_inputs(rng, batch, height, width):
    flags = rng.permutation(np.arange(batch) % 8)
    return {"images": rng.random((batch, height, width, 3)).astype(np.float32), "flags": flags.astype(np.int32)}


def reference(inputs):
    out = inputs["images"].copy()
    for b, f in enumerate(inputs["flags"]):
        out[b] = inputs["images"][b][:: -1 if f & 2 else 1, :: -1 if f & 1 else 1, :: -1 if f & 4 else 1]
    return {"flipped": out}
