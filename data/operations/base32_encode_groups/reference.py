import numpy as np


# Bytes: exact.
TOLERANCE = {"text": (0, 0)}


def make_inputs(rng, keys, groups):
    return {"raw": rng.integers(0, 256, (keys, groups * 5), dtype=np.uint8)}


def reference(inputs):
    b = inputs["raw"].reshape(-1, 5).astype(np.uint64)
    word = (
        b[:, 0] << np.uint64(32)
        | b[:, 1] << np.uint64(24)
        | b[:, 2] << np.uint64(16)
        | b[:, 3] << np.uint64(8)
        | b[:, 4]
    )
    shift = np.arange(35, -1, -5).astype(np.uint64)
    alphabet = np.frombuffer(b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", np.uint8)
    text = alphabet[(word[:, None] >> shift & np.uint64(31)).astype(np.int64)]
    return {"text": text.reshape(len(inputs["raw"]), -1)}
