import numpy as np


# Integers: exact.
TOLERANCE = {"padded": (0, 0), "position": (0, 0), "mask": (0, 0)}


def make_inputs(rng, batch, length):
    lengths = rng.integers(1, length + 1, batch)
    lengths[0] = length
    return {"tokens": rng.integers(0, 50256, (batch, length)).astype(np.int32), "lengths": lengths.astype(np.int32)}


def reference(inputs):
    x, n = inputs["tokens"], inputs["lengths"][:, None]
    source = np.arange(x.shape[1]) - (x.shape[1] - n)
    mask = source >= 0
    position = np.maximum(source, 0).astype(np.int32)
    padded = np.where(mask, np.take_along_axis(x, position, axis=1), 50256).astype(np.int32)
    return {"padded": padded, "position": position, "mask": mask.astype(np.uint8)}
