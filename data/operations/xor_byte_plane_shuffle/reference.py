import numpy as np


# Bits are moved and compared: exact.
TOLERANCE = {"bytes": (0, 0)}


def make_inputs(rng, blocks, length):
    steps = rng.normal(0, 0.05, (blocks, length))
    return {"values": (rng.uniform(-4, 4, (blocks, 1)) + np.cumsum(steps, axis=1)).astype(np.float32)}


def reference(inputs):
    u = np.ascontiguousarray(inputs["values"]).view(np.uint32)
    d = u.copy()
    d[:, 1:] ^= u[:, :-1]
    planes = [((d >> np.uint32(8 * k)) & np.uint32(255)).astype(np.uint8) for k in range(4)]
    return {"bytes": np.stack(planes, axis=1)}
