import numpy as np


# Integers: exact.
TOLERANCE = {"distance": (0, 0)}


def make_inputs(rng, pairs):
    a = rng.integers(97, 102, (pairs, 16)).astype(np.uint8)
    b = a.copy()
    for _ in range(3):
        r = np.arange(pairs)
        k = rng.integers(0, 15, pairs)
        kind = rng.integers(0, 3, pairs)
        swap = kind == 0
        b[r[swap], k[swap]], b[r[swap], k[swap] + 1] = b[r[swap], k[swap] + 1].copy(), b[r[swap], k[swap]].copy()
        new = kind == 1
        b[r[new], k[new]] = rng.integers(97, 102, int(new.sum()))
        cut = np.nonzero(kind == 2)[0]
        cols = np.arange(16)
        source = np.minimum(cols + (cols >= k[cut, None]), 15)
        b[cut] = np.take_along_axis(b[cut], source, axis=1)
    other = rng.random(pairs) < 0.2
    b[other] = rng.integers(97, 123, (int(other.sum()), 16))
    na = rng.integers(0, 17, pairs)
    nb = np.clip(na + rng.integers(-2, 3, pairs), 0, 16)
    return {"first": a, "second": b, "length_a": na.astype(np.int32), "length_b": nb.astype(np.int32)}


def reference(inputs):
    a, b = inputs["first"], inputs["second"]
    n = len(a)
    d = np.zeros((17, 17, n), np.int32)
    d[:, 0], d[0] = np.arange(17)[:, None], np.arange(17)[:, None]
    for i in range(1, 17):
        for j in range(1, 17):
            best = np.minimum(np.minimum(d[i - 1, j], d[i, j - 1]) + 1, d[i - 1, j - 1] + (a[:, i - 1] != b[:, j - 1]))
            if i > 1 and j > 1:
                swap = (a[:, i - 1] == b[:, j - 2]) & (a[:, i - 2] == b[:, j - 1])
                best = np.where(swap, np.minimum(best, d[i - 2, j - 2] + 1), best)
            d[i, j] = best
    return {"distance": d[inputs["length_a"], inputs["length_b"], np.arange(n)]}
