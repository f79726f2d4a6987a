import numpy as np


# Integers: exact.
TOLERANCE = {"matched": (0, 0), "last": (0, 0)}


def make_inputs(rng, rows, width, letters):
    pool = np.frombuffer(b"abcdefghijklmnopABCDEFGHIJKLMNOP_/.[{", np.uint8)
    lines = pool[rng.integers(0, len(pool), (rows, width))]
    lines[rng.random((rows, width)) < rng.random((rows, 1))] = ord("_")
    pattern = pool[rng.integers(0, 33, letters)].copy()
    pattern[1] = pattern[0] ^ 32 if 65 <= (pattern[0] & 0xDF) <= 90 else ord("a")
    # the pattern is planted in half of the rows, in some of them cut short
    planted = np.nonzero(rng.random(rows) < 0.5)[0]
    step = width // letters
    where = np.arange(letters) * step + rng.integers(0, step, (len(planted), letters))
    lines[planted[:, None], where] = pattern
    cut = planted[::4]
    lines[cut, width - width // 3 :] = ord("/")
    return {"lines": lines, "pattern": pattern}


def reference(inputs):
    def fold(t):
        return np.where((t >= 65) & (t <= 90), t + 32, t)

    x, p = fold(inputs["lines"].astype(np.int32)), fold(inputs["pattern"].astype(np.int32))
    p = np.append(p, -1)
    k = np.zeros(len(x), np.int32)
    last = np.full(len(x), -1, np.int32)
    for c in range(x.shape[1]):
        hit = x[:, c] == p[k]
        k += hit
        last[hit & (k == len(p) - 1)] = c
    return {"matched": k, "last": last}
