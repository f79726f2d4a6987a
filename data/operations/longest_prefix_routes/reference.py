import numpy as np


# Integers: exact.
TOLERANCE = {"route": (0, 0), "matches": (0, 0)}


def mask(length):
    return ((1 << 32) - (1 << (32 - length))).astype(np.int64)


def make_inputs(rng, n, routes):
    length = rng.choice([2, 4, 8, 12, 16, 20, 24, 31, 32], routes).astype(np.int64)
    base = rng.integers(0, 2**31, routes)
    for j in range(routes // 2, routes):
        k = rng.integers(0, routes // 2)
        base[j] = base[k] ^ rng.integers(0, 256)
    length[-1] = length[routes // 2]
    base[-1] = base[routes // 2]
    pick = rng.integers(0, routes, n)
    low = np.array([1, 2**4, 2**8, 2**16, 2**24])[rng.integers(0, 5, n)]
    address = base[pick] ^ rng.integers(0, low)
    wild = rng.random(n) < 0.3
    address[wild] = rng.integers(0, 2**32, wild.sum())
    return {
        "addresses": address.astype(np.uint32),
        "prefixes": base.astype(np.uint32),
        "prefix_len": length.astype(np.int32),
    }


def reference(inputs):
    a = inputs["addresses"].astype(np.int64)
    best, route, count = np.full(len(a), -1), np.full(len(a), -1), np.zeros(len(a), dtype=np.int32)
    for j, (p, length) in enumerate(
        zip(inputs["prefixes"].astype(np.int64), inputs["prefix_len"].astype(np.int64), strict=False)
    ):
        hit = ((a ^ p) & mask(length)) == 0
        count += hit
        better = hit & (length > best)
        best[better] = length
        route[better] = j
    return {"route": route.astype(np.int32), "matches": count}
