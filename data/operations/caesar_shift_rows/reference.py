import numpy as np


# Bytes: exact.
TOLERANCE = {"cipher": (0, 0)}


def make_inputs(rng, rows, width):
    pool = np.frombuffer(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ  .,@[`{09\x80\xe1\xfa", np.uint8)
    return {
        "text": pool[rng.integers(0, len(pool), (rows, width))],
        "key": rng.integers(-1000, 1001, rows).astype(np.int32),
    }


def reference(inputs):
    t = inputs["text"].astype(np.int32)
    base = np.where((t >= 65) & (t <= 90), 65, np.where((t >= 97) & (t <= 122), 97, -1))
    moved = base + (t - base + inputs["key"][:, None]) % 26
    return {"cipher": np.where(base > 0, moved, t).astype(np.uint8)}
