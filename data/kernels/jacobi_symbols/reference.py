import numpy as np


TOLERANCE = {"symbol": (0, 0)}


def make_inputs(rng, n, values="wide"):
    bits = rng.integers(0, 64, n).astype(np.uint64)
    m = rng.integers(0, 2**64, n, dtype=np.uint64) >> bits | np.uint64(1)
    a = rng.integers(-(2**63), 2**63, n) >> rng.integers(0, 63, n)
    if values == "extremes":
        top = 2**64 - 1
        m = rng.choice(np.array([1, 3, 5, 7, 9, 15, 2**63 + 1, top, top - 2, 4294967297], dtype=np.uint64), n)
        a = rng.choice(np.array([0, 1, -1, 2, -2, 15, -(2**63), 2**63 - 1, -(2**62), 45, -63]), n)
    return {"sizes": np.array([n], dtype=np.int32), "a": a, "m": m}


def reference(inputs):
    # Euclid's algorithm with remainders, on the pairs that are not finished.
    zero, one, three = np.uint64(0), np.uint64(1), np.uint64(3)
    a, m = inputs["a"], inputs["m"].copy()
    size = np.where(a < 0, zero - a.view(np.uint64), a.view(np.uint64))
    rest = size % m
    rest = np.where((a < 0) & (rest > zero), m - rest, rest)
    sign = np.ones(a.size, dtype=np.int8)
    active = np.flatnonzero(rest)
    while active.size:
        r, mod = rest[active], m[active]
        twos = np.log2((r & (~r + one)).astype(np.float64)).astype(np.uint64)
        r >>= twos
        flip = (twos & one == one) & ((mod & np.uint64(7) == three) | (mod & np.uint64(7) == np.uint64(5)))
        flip ^= (r & three == three) & (mod & three == three)
        sign[active[flip]] *= -1
        rest[active], m[active] = mod % r, r
        active = active[rest[active] != zero]
    return {"symbol": np.where(m == one, sign, 0).astype(np.int8)}
