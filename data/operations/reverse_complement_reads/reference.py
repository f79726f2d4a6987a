import numpy as np


# Bytes and counts: exact.
TOLERANCE = {"complement": (0, 0), "unknown": (0, 0)}


def make_inputs(rng, reads, width):
    pool = np.frombuffer(b"ACGTACGTACGTACGTacgtNn-U", np.uint8)
    lengths = rng.integers(width // 2, width + 1, reads)
    lengths[::17] = 0
    lengths[1] = width
    return {"bases": pool[rng.integers(0, len(pool), (reads, width))], "lengths": lengths.astype(np.int32)}


def reference(inputs):
    table = np.full(256, ord("N"), np.uint8)
    for a, b in zip(b"ACGTacgt", b"TGCATGCA", strict=False):
        table[a] = b
    x, n = inputs["bases"], inputs["lengths"][:, None]
    source = n - 1 - np.arange(x.shape[1])
    y = table[np.take_along_axis(x, np.maximum(source, 0), axis=1)]
    y = np.where(source >= 0, y, 0).astype(np.uint8)
    return {"complement": y, "unknown": (y == ord("N")).sum(axis=1).astype(np.int32)}
