import numpy as np


# Counts are exact.
TOLERANCE = {"counts": (0, 0)}


def make_inputs(rng, rows, cols):
    bits = rng.integers(0, 2**32, (rows, cols), dtype=np.uint32)
    kind = rng.choice(6, (rows, cols), p=[0.4, 0.15, 0.15, 0.1, 0.1, 0.1])
    sign = bits & np.uint32(0x80000000)
    fraction = bits & np.uint32(0x007FFFFF)
    bits = np.where(kind == 1, sign, bits)
    bits = np.where(kind == 2, sign | fraction, bits)
    bits = np.where(kind == 3, sign | np.uint32(0x7F800000), bits)
    bits = np.where(kind == 4, sign | np.uint32(0x7F800000) | fraction, bits)
    bits = np.where(kind == 5, sign | np.uint32(0x7F800000) | np.uint32(1), bits)
    return {"bits": bits.astype(np.uint32)}


def reference(inputs):
    b = inputs["bits"]
    e, f = (b >> np.uint32(23)) & np.uint32(255), b & np.uint32(0x7FFFFF)
    parts = [
        (e == 0) & (f == 0),
        (e == 0) & (f != 0),
        (e > 0) & (e < 255),
        (e == 255) & (f == 0),
        (e == 255) & (f != 0),
    ]
    return {"counts": np.stack([p.sum(axis=1) for p in parts], axis=1).astype(np.int32)}
