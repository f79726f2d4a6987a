import numpy as np


# Integers: exact.
TOLERANCE = {"valid": (0, 0), "expected": (0, 0)}


def check_digit(body):
    d = body[:, ::-1].astype(np.int64)
    d[:, ::2] *= 2
    d[d > 9] -= 9
    return ((10 - d.sum(axis=1) % 10) % 10).astype(np.uint8)


def make_inputs(rng, rows, length):
    d = rng.integers(0, 10, (rows, length)).astype(np.uint8)
    good = rng.random(rows) < 0.5
    d[good, -1] = check_digit(d[good, :-1])
    return {"digits": d}


def reference(inputs):
    d = inputs["digits"]
    e = check_digit(d[:, :-1])
    return {"valid": (e == d[:, -1]).astype(np.uint8), "expected": e}
