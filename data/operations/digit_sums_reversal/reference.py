import numpy as np


# Integers: exact.
TOLERANCE = {"digit_sum": (0, 0), "reversed": (0, 0)}


def make_inputs(rng, n):
    size = 10 ** rng.integers(1, 10, n)
    v = rng.integers(0, size) * rng.choice([-1, 1], n)
    v[rng.random(n) < 0.2] //= 1000
    v = np.where(rng.random(n) < 0.2, v // 1000 * 100, v)
    v[:3] = [0, 999999999, -999999999]
    return {"numbers": v.astype(np.int32)}


def reference(inputs):
    v = inputs["numbers"]
    rest = np.abs(v)
    total, back = np.zeros_like(v), np.zeros_like(v)
    for _ in range(9):
        digit = rest % 10
        total += digit
        back = np.where(rest > 0, back * 10 + digit, back)
        rest = rest // 10
    return {"digit_sum": total, "reversed": back * np.sign(v)}
