import numpy as np


# Integers: exact.
TOLERANCE = {"token": (0, 0), "total": (0, 0)}


def make_inputs(rng, rows, vocab):
    w = np.floor(1e6 * rng.random((rows, vocab)) ** rng.integers(1, 30, (rows, 1))).astype(np.int32)
    w[rng.random((rows, vocab)) < 0.3] = 0
    w[::5, : vocab // 2] = 0
    w[:, vocab // 2] += 7
    # sums stay below 2^31, so that draw * total fits unsigned 64-bit arithmetic
    limit = 2**31 // vocab
    w = np.minimum(w, limit).astype(np.int32)
    draw = rng.integers(0, 2**32, rows, dtype=np.uint32)
    draw[0], draw[1] = 0, 2**32 - 1
    return {"weights": w, "draw": draw}


def reference(inputs):
    c = np.cumsum(inputs["weights"].astype(np.uint64), axis=1)
    target = inputs["draw"].astype(np.uint64) * c[:, -1] >> np.uint64(32)
    token = (c > target[:, None]).argmax(axis=1)
    return {"token": token.astype(np.int32), "total": c[:, -1].astype(np.int64)}
